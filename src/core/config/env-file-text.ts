import { parseEnv } from 'node:util'
import type { FileIssue } from './validation-issue.ts'

/** What is wrong with a line, and what to do. */
type LineProblem = Pick<FileIssue, 'message' | 'hint'>

/**
 * The variables of `KEY=VALUE` lines, as `node --env-file` reads them, but for names that no shell takes (`A B`, `A-B`): systemd
 * drops those. A byte order mark, which editors of Windows write, is no part of a name.
 */
export function parseVariables(text: string): Record<string, string> {
  const read = Object.entries(parseEnv(stripBom(text)) as Record<string, string>)
  return Object.fromEntries(read.filter(([name]) => NAME.test(name)))
}

/** A part of such a file: a variable, a comment, or what is neither. */
export interface Statement {
  /** Its first line, 0-based. */
  at: number
  /** How many lines it takes: a value in quotes may have several. */
  count: number
  /** The variable that it sets. */
  name?: string
  wrong?: LineProblem | undefined
}

/** The statements of such a file, which together are all of its lines, ended by `\n` or `\r\n`. */
export function* parseStatements(text: string): Generator<Statement> {
  const lines = stripBom(text).split(/\r?\n/)
  for (let at = 0; at < lines.length; ) {
    const statement = { at, ...parseStatement(lines, at) }
    yield statement
    at += statement.count
  }
}

/**
 * What of a file of variables nobody reads, or not everybody alike: Node, systemd and a shell agree on less than each of
 * them takes. Names the lines; a value is never shown, nor a line that may be one.
 */
export function envFileProblems(text: string, file: string): FileIssue[] {
  const wrong = [...parseStatements(text)].filter((one) => one.wrong !== undefined)
  return wrong.map(({ at, name = '', wrong }) => ({
    file,
    line: at + 1,
    column: undefined,
    key: name,
    ...wrong!,
  }))
}

/** The line of such a file that sets a variable last, 1-based; undefined where none does. */
export function variableLine(text: string, name: string): number | undefined {
  const last = [...parseStatements(text)].findLast((one) => one.name === name)
  return last && last.at + 1
}

function parseStatement(lines: readonly string[], at: number): Omit<Statement, 'at'> {
  const line = lines[at]!.trim()
  if (line === '' || /^[#;]/.test(line)) return { count: 1 }
  const [, exported, name, value] = /^(export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined) return { wrong: NO_VARIABLE, count: 1 }
  const quote = /^["'`]/.exec(value)?.[0]
  const last = quote === undefined ? at : closingLine(lines, at, quote)
  if (last === undefined) return { name, wrong: NOT_CLOSED, count: 1 }
  const whole = [value, ...lines.slice(at + 1, last + 1)].join('\n')
  const isBlank = value === '' && /\s$/.test(lines[at]!) // then Node takes the next line for the value
  const wrong = exported ? EXPORTED : isBlank || isAmbiguous(whole, quote) ? AMBIGUOUS : undefined
  return { name, wrong, count: last - at + 1 }
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
 * behind a closing quote systemd reads on; and it knows no backtick.
 */
function isAmbiguous(value: string, quote: string | undefined): boolean {
  if (quote === undefined) return /[#\\]/.test(value)
  if (quote === '`') return true
  const end = value.indexOf(quote, 1)
  const hasEscapes = quote === '"' && /\\["\\`$n\n]/.test(value)
  return hasEscapes || value.slice(end + 1).trim() !== ''
}

/** A text without the byte order mark that editors of Windows begin a file with. */
export function stripBom(text: string): string {
  return text.replace(/^\ufeff/, '')
}

const NAME = /^[A-Za-z_]\w*$/
const NO_VARIABLE: LineProblem = {
  message: 'is no KEY=VALUE, and is not read',
  hint: 'begin comments with #, and names with a letter',
}
const NOT_CLOSED: LineProblem = {
  message: 'has a quote that is not closed: what follows may not be read',
  hint: 'close it',
}
const EXPORTED: LineProblem = {
  message: 'begins with export, and systemd does not read it',
  hint: 'leave export out',
}
const AMBIGUOUS: LineProblem = {
  message: 'has a value that Node and systemd do not read alike',
  hint: 'put it in single quotes, and a comment on a line of its own',
}
