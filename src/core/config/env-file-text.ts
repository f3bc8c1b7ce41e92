import { parseEnv } from 'node:util'
import type { FileIssue } from './validation-issue.ts'

/** The problem with a line, and the fix. */
type LineProblem = Pick<FileIssue, 'message' | 'hint'>

/**
 * Parses the variables of `KEY=VALUE` lines as `node --env-file` does. It skips names that no shell accepts
 * (`A B`, `A-B`), which systemd drops as well, and removes a byte order mark, which Windows editors write.
 */
export function parseVariables(text: string): Record<string, string> {
  const read = Object.entries(parseEnv(stripBom(text)) as Record<string, string>)
  return Object.fromEntries(read.filter(([name]) => NAME.test(name)))
}

/** A part of an environment file: a variable, a comment, or something invalid. */
export interface Statement {
  /** The index of its first line, 0-based. */
  at: number
  /** The number of its lines: a quoted value may span several. */
  count: number
  /** The variable that it sets. */
  name?: string
  wrong?: LineProblem | undefined
}

/**
 * Yields the statements of an environment file, which together cover all of its lines. Lines end with LF or
 * CRLF.
 */
export function* parseStatements(text: string): Generator<Statement> {
  const lines = stripBom(text).split(/\r?\n/)
  for (let at = 0; at < lines.length; ) {
    const statement = { at, ...parseStatement(lines, at) }
    yield statement
    at += statement.count
  }
}

/**
 * Returns the lines of an environment file that are ignored, or that Node, systemd and shells read
 * differently. Names the lines; never shows a value, nor a line that may be one.
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

/** Returns the last line of an environment file that sets a variable, 1-based; undefined when none does. */
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
  const isBlank = value === '' && /\s$/.test(lines[at]!) // Node then reads the next line as the value
  const wrong = exported ? EXPORTED : isBlank || isAmbiguous(whole, quote) ? AMBIGUOUS : undefined
  return { name, wrong, count: last - at + 1 }
}

/** Returns the line in which the opening quote of a value is closed; undefined when it is not. */
function closingLine(lines: readonly string[], at: number, quote: string): number | undefined {
  const first = lines[at]!.slice(lines[at]!.indexOf(quote) + 1)
  if (first.includes(quote)) return at
  const closing = lines.findIndex((line, index) => index > at && line.includes(quote))
  return closing < 0 ? undefined : closing
}

/**
 * Whether programs read a value differently. Without quotes Node ends a value at `#` and systemd removes
 * backslashes; in double quotes each has its own escapes; after a closing quote systemd continues to read;
 * and systemd does not know backticks.
 */
function isAmbiguous(value: string, quote: string | undefined): boolean {
  if (quote === undefined) return /[#\\]/.test(value)
  if (quote === '`') return true
  const end = value.indexOf(quote, 1)
  const hasEscapes = quote === '"' && /\\["\\`$n\n]/.test(value)
  return hasEscapes || value.slice(end + 1).trim() !== ''
}

/** Removes the byte order mark with which Windows editors begin a file. */
export function stripBom(text: string): string {
  return text.replace(/^\ufeff/, '')
}

const NAME = /^[A-Za-z_]\w*$/
const NO_VARIABLE: LineProblem = {
  message: 'is not KEY=VALUE and is ignored',
  hint: 'start comments with #, and names with a letter',
}
const NOT_CLOSED: LineProblem = {
  message: 'has an unclosed quote: the lines after it may be ignored',
  hint: 'close it',
}
const EXPORTED: LineProblem = {
  message: 'starts with export, which systemd does not read',
  hint: 'leave out export',
}
const AMBIGUOUS: LineProblem = {
  message: 'has a value that Node and systemd read differently',
  hint: 'put it in single quotes, and a comment on a line of its own',
}
