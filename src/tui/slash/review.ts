import { quoteWord } from '../../core/base/quote-word.ts'
import { buildReviewTask, type ReviewSubject } from '../../core/base/task-texts.ts'
import type { GitReading } from '../ports.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/review [BASE|WHAT]`: the agent reviews the changes of the working tree, those since a branch or commit, or
 * whatever the words name.
 */
export async function reviewChanges(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const subject =
    args === '' ? await findWorkingTree(context, signal) : await findSubject(args, context, signal)
  if (subject === undefined) return
  const line = args === '' ? '/review' : `/review ${args}`
  context.send(line, { content: buildReviewTask(subject), attachments: [], problems: [] })
}

async function findWorkingTree(
  context: SlashContext,
  signal: AbortSignal,
): Promise<ReviewSubject | undefined> {
  const reading = await context.ports.readGit('status --porcelain', signal)
  const problem = findProblem(reading)
  if (!problem) return 'working-tree'
  printNotice(context, 'info', problem.text, problem.hint)
  return undefined
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

async function findSubject(
  words: string,
  { ports }: SlashContext,
  signal: AbortSignal,
): Promise<ReviewSubject> {
  if (!COMMIT.test(words)) return { kind: 'words', words }
  const commit = quoteWord(`${words}^{commit}`)
  const reading = await ports.readGit(`rev-parse --verify --quiet ${commit}`, signal)
  if (reading.kind === 'unchecked') return { kind: 'maybe-since', words }
  return { kind: reading.kind === 'none' || reading.exitCode !== 0 ? 'words' : 'since', words }
}

/** Matches a word that may name a branch or commit, and is not an option. */
const COMMIT = /^[^\s-]\S*$/
