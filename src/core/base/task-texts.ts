import { quoteWord } from './quote-word.ts'

/**
 * The subject of a review: the working tree; what the words name; the changes since a commit; or words that may be a
 * commit, when git was not asked.
 */
export type ReviewSubject = 'working-tree' | { kind: 'words' | 'since' | 'maybe-since'; words: string }

/** Returns the task that `/review` sends to the agent. */
export function buildReviewTask(subject: ReviewSubject): string {
  return `${describeSubject(subject)}\n\n${REVIEW_RULES}`
}

function describeSubject(subject: ReviewSubject): string {
  if (subject === 'working-tree') return WORKING_TREE
  const { kind, words } = subject
  if (kind === 'words') return `${REVIEW_THIS}${words}`
  const base = quoteWord(words)
  const how = `\`git merge-base ${base} HEAD\` prints the commit where they begin; \`git log --oneline\` and \`git diff\` from it show them. Read files that git does not track yet, too.`
  if (kind === 'since') return `${REVIEW_SINCE}${words}, committed or not.\n\n${how}`
  return `${REVIEW_THIS}${words}\n\nIf that is a branch or commit, review the changes since it, committed or not: ${how}`
}

/** Returns the task that `/init` sends to the agent: to write AGENTS.md, or to improve the file `improves`. */
export function buildInitTask({
  improves,
  replaces,
}: {
  improves?: string
  replaces: readonly string[]
}): string {
  if (improves !== undefined)
    return `Improve the ${improves} of this repository: compare it with the code, correct what is no longer true, and add what is missing.\n\n${LOOK}\n\n${CONTENTS}\n\nKeep what is right as it is, including the tone and the order of the file. Change it with small edits. Then list the changes, each with its reason.`
  const sources = replaces.length === 0 ? '' : `${STILL_TRUE}${replaces.join(AND)}, which AGENTS.md replaces.`
  return `Write an AGENTS.md for this repository: what a new contributor, a person or a model, has to know to work in it.\n\n${LOOK}${sources}\n\n${CONTENTS}\n\nWrite it to AGENTS.md in the working directory. Then say in two sentences what is in it, and what you could not find out.`
}

/**
 * Returns the command that sends this text, as the user typed it; for a prompt of an MCP server, without its
 * arguments. Undefined for any other text: a task counts only when it is exactly what the command sends, because a
 * sender must not be able to hide other words behind a command.
 */
export function readTaskCommand(text: string): string | undefined {
  const prompt = PROMPT.exec(text)
  if (prompt) return `/${prompt[1]}:${prompt[2]}`
  if (isInitTask(text)) return '/init'
  const subject = readSubject(text)
  if (subject === undefined || buildReviewTask(subject) !== text) return undefined
  return subject === 'working-tree' ? '/review' : `/review ${subject.words}`
}

function isInitTask(text: string): boolean {
  const improves = /^Improve the ([\w.]+) of this repository: /.exec(text)?.[1]
  const names = text.includes(STILL_TRUE)
    ? /Keep what is still true of (.+), which AGENTS/.exec(text)?.[1]
    : undefined
  const isStart = improves !== undefined || text.startsWith('Write an AGENTS.md for ')
  const replaces = names?.split(AND) ?? []
  return isStart && buildInitTask({ ...(improves !== undefined && { improves }), replaces }) === text
}

function readSubject(text: string): ReviewSubject | undefined {
  const end = `\n\n${REVIEW_RULES}`
  if (!text.endsWith(end)) return undefined
  const subject = text.slice(0, -end.length)
  if (subject === WORKING_TREE) return 'working-tree'
  const since = /^Review the changes since (\S+), committed or not\.\n\n`git merge-base /.exec(subject)?.[1]
  if (since !== undefined) return { kind: 'since', words: since }
  const maybe = /^Review this: (\S+)\n\nIf that is a branch or commit, /.exec(subject)?.[1]
  if (maybe !== undefined) return { kind: 'maybe-since', words: maybe }
  return subject.startsWith(REVIEW_THIS)
    ? { kind: 'words', words: subject.slice(REVIEW_THIS.length) }
    : undefined
}

/** Matches a filled-in prompt of an MCP server, which cannot contain its own closing tag. */
const PROMPT =
  /^<prompt server="([a-z0-9][a-z0-9_-]{0,31})" name="([^"<>\n]+)">\n(?:(?!<\/prompt>)[\s\S])*\n<\/prompt>$/

const REVIEW_THIS = 'Review this: '
const REVIEW_SINCE = 'Review the changes since '
const STILL_TRUE = ' Keep what is still true of '
const AND = ' and '

const WORKING_TREE = `Review the uncommitted changes of this repository.

\`git status --short\` lists them, \`git diff HEAD\` shows them; read files that git does not track yet.`

const REVIEW_RULES = `Change nothing. Read what is around each change, and the callers of changed functions where that decides.

Look for wrong results and missed edge cases, broken callers, races and leaks, errors that are lost, holes in security, and tests that are missing or cannot fail. Leave out what a formatter decides, and praise.

Check each finding in the code before you report it. Report the most serious first, each with file and line, the problem in a sentence, how it shows, and the change you suggest; say where you are not sure. If there is nothing to report, name in a sentence what you looked at.`

const LOOK =
  'Look before you write: the README and other documentation, the files that define the build and the checks (such as package.json, Makefile, Cargo.toml, pyproject.toml, CI workflows), the folders, the tests, and some typical source files.'

const CONTENTS = `It contains, as far as that applies here:
- what the project is, in a sentence
- the commands to install, build, run, lint and test, and to run a single test, as the build files define them
- the folders and entry points that one must know
- conventions that no single file shows: names, errors, tests, commits
- traps: generated files, steps that belong together, things that look wrong and are right

Leave out what every programmer knows, complete lists of files, and whatever you have not seen. At most 80 lines.`
