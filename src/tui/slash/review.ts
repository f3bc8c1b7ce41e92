import { quoteWord } from '../../core/base/quote-word.ts'
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
  const status = await runGit('status --porcelain', context, signal)
  if (status === undefined) {
    const hint = 'name what to review: /review src/parser.ts'
    printNotice(context, 'info', 'Cannot review changes: this directory is not in a git repository', hint)
    return undefined
  }
  if (status.trim() === '') {
    const hint = 'review against a branch or commit: /review main'
    printNotice(context, 'info', 'Nothing to review: there are no uncommitted changes', hint)
    return undefined
  }
  return `Review the uncommitted changes of this repository.

\`git status --short\` lists them, \`git diff HEAD\` shows them; read files that git does not track yet.`
}

async function namedTask(words: string, context: SlashContext, signal: AbortSignal): Promise<string> {
  const commit = `${words}^{commit}`
  const found = /\s/.test(words)
    ? undefined
    : await runGit(`rev-parse --verify --quiet --end-of-options ${quoteWord(commit)}`, context, signal)
  if (found === undefined) return `Review this: ${words}`
  const base = quoteWord(words)
  return `Review the changes since ${words}, committed or not.

\`git merge-base ${base} HEAD\` prints the commit where they begin; \`git log --oneline\` and \`git diff\` from it show them. Read files that git does not track yet, too.`
}

/** Runs git in the working directory; undefined when it fails. */
async function runGit(
  line: string,
  { ports }: SlashContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { output, exitCode } = await ports.runShell(`git ${line}`, () => {}, signal)
  return exitCode === 0 ? output : undefined
}

const RULES = `Change nothing. Read what is around each change, and the callers of changed functions where that decides.

Look for wrong results and missed edge cases, broken callers, races and leaks, errors that are lost, holes in security, and tests that are missing or cannot fail. Leave out what a formatter decides, and praise.

Check each finding in the code before you report it. Report the most serious first, each with file and line, the problem in a sentence, how it shows, and the change you suggest; say where you are not sure. If there is nothing to report, name in a sentence what you looked at.`
