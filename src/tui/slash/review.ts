import { quoteWord } from '../../core/base/quote-word.ts'
import type { GitReading } from '../ports.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/review [BASE|WHAT]`: the agent reviews the changes of the working tree, those since a branch or commit, or
 * whatever the words name.
 */
export async function reviewChanges(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const task = args === '' ? await workingTreeTask(context, signal) : await namedTask(args, context, signal)
  if (task === undefined) return
  const line = args === '' ? '/review' : `/review ${args}`
  context.send(line, { content: `${task}\n\n${RULES}`, attachments: [], problems: [] })
}

async function workingTreeTask(context: SlashContext, signal: AbortSignal): Promise<string | undefined> {
  const reading = await context.ports.readGit('status --porcelain', signal)
  const problem = findProblem(reading)
  if (problem) {
    printNotice(context, 'info', problem.text, problem.hint)
    return undefined
  }
  return `Review the uncommitted changes of this repository.

\`git status --short\` lists them, \`git diff HEAD\` shows them; read files that git does not track yet.`
}

/** Returns why there is nothing to review. What git was not asked, the agent finds out. */
function findProblem(reading: GitReading): { text: string; hint: string } | undefined {
  if (reading.kind === 'unchecked') return undefined
  const isRead = reading.kind === 'read' && reading.exitCode === 0
  if (isRead && reading.output.trim() !== '') return undefined
  if (isRead)
    return {
      text: 'Nothing to review: there are no uncommitted changes',
      hint: 'review against a branch or commit: /review main',
    }
  const why =
    reading.kind === 'none'
      ? 'this directory is not in a git repository'
      : (reading.output
          .trim()
          .split('\n')
          .find((line) => line.startsWith('fatal: ')) ?? 'git failed')
  return { text: `Cannot review changes: ${why}`, hint: 'name what to review: /review src/parser.ts' }
}

async function namedTask(words: string, { ports }: SlashContext, signal: AbortSignal): Promise<string> {
  if (!COMMIT.test(words)) return `Review this: ${words}`
  const base = quoteWord(words)
  const commit = quoteWord(`${words}^{commit}`)
  const reading = await ports.readGit(`rev-parse --verify --quiet ${commit}`, signal)
  const how = `\`git merge-base ${base} HEAD\` prints the commit where they begin; \`git log --oneline\` and \`git diff\` from it show them. Read files that git does not track yet, too.`
  if (reading.kind === 'unchecked')
    return `Review this: ${words}

If that is a branch or commit, review the changes since it, committed or not: ${how}`
  if (reading.kind === 'none' || reading.exitCode !== 0) return `Review this: ${words}`
  return `Review the changes since ${words}, committed or not.

${how}`
}

/** Matches a word that may name a branch or commit, and is not an option. */
const COMMIT = /^[^\s-]\S*$/

const RULES = `Change nothing. Read what is around each change, and the callers of changed functions where that decides.

Look for wrong results and missed edge cases, broken callers, races and leaks, errors that are lost, holes in security, and tests that are missing or cannot fail. Leave out what a formatter decides, and praise.

Check each finding in the code before you report it. Report the most serious first, each with file and line, the problem in a sentence, how it shows, and the change you suggest; say where you are not sure. If there is nothing to report, name in a sentence what you looked at.`
