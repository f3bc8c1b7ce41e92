import { parseEnv } from 'node:util'
import type { Problem } from './problem.ts'

/** What is wrong with a line, and what to do. */
type Wrong = Pick<Problem, 'message' | 'hint'> & { key?: string }

/** The variables of `KEY=VALUE` lines, as `node --env-file` reads them; a byte order mark, which editors of Windows write, is no part of a name. */
export function parseVariables(text: string): Record<string, string> {
  return { ...(parseEnv(withoutMark(text)) as Record<string, string>) }
}

/**
 * What of a file of variables nobody reads, or not everybody alike: Node, systemd and a shell agree on less than each of
 * them takes. Names the lines; a value is never shown, nor a line that may be one.
 */
export function envFileProblems(text: string, file: string): Problem[] {
  const lines = withoutMark(text).split(/\r?\n/)
  const problems: Problem[] = []
  for (let at = 0; at < lines.length; ) {
    const { wrong, count } = lookAt(lines, at)
    if (wrong) problems.push({ file, line: at + 1, column: undefined, key: '', ...wrong })
    at += count
  }
  return problems
}

/** The last line of such a file that sets a variable, 1-based; undefined where none does. */
export function variableLine(text: string, name: string): number | undefined {
  const isSet = (line: string) => /^\s*(?:export\s+)?([\w.-]+)\s*=/.exec(line)?.[1] === name
  const at = withoutMark(text).split('\n').findLastIndex(isSet)
  return at < 0 ? undefined : at + 1
}

/** `count`: how many lines it takes, as a value in quotes may have several. */
function lookAt(lines: readonly string[], at: number): { wrong?: Wrong | undefined; count: number } {
  const line = lines[at]!.trim()
  if (line === '' || /^[#;]/.test(line)) return { count: 1 }
  const [, exported, name, value] = /^(export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined) return { wrong: NO_VARIABLE, count: 1 }
  const quote = /^["']/.exec(value)?.[0]
  const last = quote === undefined ? at : closingLine(lines, at, quote)
  if (last === undefined) return { wrong: { ...NOT_CLOSED, key: name }, count: 1 }
  const whole = [value, ...lines.slice(at + 1, last + 1)].join('\n')
  const isBlank = value === '' && /\s$/.test(lines[at]!) // then Node takes the next line for the value
  const wrong = exported ? EXPORTED : isBlank || isAmbiguous(whole, quote) ? AMBIGUOUS : undefined
  return { wrong: wrong && { ...wrong, key: name }, count: last - at + 1 }
}

/** The line in which a quote ends that begins a value; undefined where none does. */
function closingLine(lines: readonly string[], at: number, quote: string): number | undefined {
  const first = lines[at]!.slice(lines[at]!.indexOf(quote) + 1)
  if (first.includes(quote)) return at
  const found = lines.findIndex((line, index) => index > at && line.includes(quote))
  return found < 0 ? undefined : found
}

/**
 * Without quotes Node ends a value at `#` and systemd takes off backslashes; in double quotes each has escapes of its own;
 * behind a closing quote systemd reads on.
 */
function isAmbiguous(value: string, quote: string | undefined): boolean {
  if (quote === undefined) return /[#\\]|^`/.test(value)
  const end = value.indexOf(quote, 1)
  const hasEscapes = quote === '"' && /\\["\\`$n\n]/.test(value)
  return hasEscapes || value.slice(end + 1).trim() !== ''
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '')
}

const NO_VARIABLE: Wrong = {
  message: 'is no KEY=VALUE, and is not read',
  hint: 'begin comments with #, and names with a letter',
}
const NOT_CLOSED: Wrong = {
  message: 'has a quote that is not closed: what follows may not be read',
  hint: 'close it',
}
const EXPORTED: Wrong = {
  message: 'begins with export, and systemd does not read it',
  hint: 'leave export out',
}
const AMBIGUOUS: Wrong = {
  message: 'has a value that Node and systemd do not read alike',
  hint: 'put it in single quotes, and a comment on a line of its own',
}
