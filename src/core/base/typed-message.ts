import { withoutMentionedFiles } from './mentioned-files.ts'
import { readTaskCommand } from './task-texts.ts'

/** A command line that the user ran with `!`, and what it printed: the agent reads it with the next message. */
export interface SentShellLine {
  line: string
  /** Undefined when the user stopped it. */
  exitCode: number | undefined
  output: string
}

/** A stored message of the user, as the user entered it. */
export interface TypedMessage {
  /** The shell lines that were sent along, oldest first. */
  shellLines: readonly SentShellLine[]
  /** The message or command as it was typed. */
  text: string
}

/** Formats a shell line for the agent; `readTypedMessage` is the inverse. */
export function wrapShellLine({ line, exitCode, output }: SentShellLine): string {
  const end = exitCode === undefined ? 'interrupted="true"' : `exit="${exitCode}"`
  return `<shell command=${JSON.stringify(line)} ${end}>\n${output}\n</shell>`
}

/**
 * Reads what the user entered from the content of a message: separates the output of shell lines, removes files
 * named with `@`, and returns a command such as `/review` in place of the task that it sends. It recognizes them by
 * their form, so that messages of any age can be read.
 */
export function readTypedMessage(content: string): TypedMessage {
  const { shellLines, text } = splitShellLines(content)
  return { shellLines, text: readTaskCommand(text) ?? withoutMentionedFiles(text) }
}

/** Returns what the user entered as one text: shell lines without their output, then the message. */
export function toTypedText(content: string): string {
  const { shellLines, text } = readTypedMessage(content)
  return [...shellLines.map(({ line }) => `! ${line}`), text].filter((part) => part !== '').join('\n')
}

/** Returns a message without what was added to it: the output of shell lines, and files named with `@`. */
export function withoutContext(content: string): string {
  return withoutMentionedFiles(splitShellLines(content).text)
}

/** Shortens a long output to its first and last lines. */
export function foldOutput(output: string): string {
  const lines = output.trimEnd().split('\n')
  const left = lines.length - HEAD_LINES - TAIL_LINES
  if (left <= 1) return output
  return [...lines.slice(0, HEAD_LINES), `… ${left} more lines`, ...lines.slice(-TAIL_LINES)].join('\n')
}

const HEAD_LINES = 30
const TAIL_LINES = 10

/** Shell lines come before a message, and after one that begins with the name of a skill. */
function splitShellLines(content: string): TypedMessage {
  if (content.startsWith(SHELL_START)) {
    const { shellLines, end } = readShellLines(content, 0)
    return { shellLines, text: content.slice(end) }
  }
  const at = content.startsWith('/') ? content.indexOf(`\n\n${SHELL_START}`) : -1
  const behind = at < 0 ? undefined : readShellLines(content, at + 2)
  if (behind?.end !== content.length) return { shellLines: [], text: content }
  return { shellLines: behind.shellLines, text: content.slice(0, at) }
}

const SHELL_START = '<shell command="'

function readShellLines(content: string, from: number): { shellLines: SentShellLine[]; end: number } {
  const shellLines: SentShellLine[] = []
  const pattern = new RegExp(SHELL, 'y')
  let end = from
  pattern.lastIndex = from
  for (let found = pattern.exec(content); found; found = pattern.exec(content)) {
    const [, command = '""', exit, output = ''] = found
    const line = parseLine(command)
    if (line === undefined) break
    shellLines.push({ line, exitCode: exit === undefined ? undefined : Number(exit), output })
    end = pattern.lastIndex
  }
  return { shellLines, end }
}

const SHELL =
  /<shell command=("(?:[^"\\\n]|\\.)*") (?:exit="(-?\d+)"|interrupted="true")>\n([\s\S]*?)\n<\/shell>(?:\n\n|$)/

function parseLine(json: string): string | undefined {
  try {
    return String(JSON.parse(json))
  } catch {
    return undefined // a message that only looks like one of ours
  }
}
