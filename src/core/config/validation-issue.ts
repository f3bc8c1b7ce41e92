import { CrabError, type ErrorKind } from '../base/errors.ts'

/** The path to a value: table keys and list indexes. */
export type KeyPath = readonly (string | number)[]

/** A problem with one value. Never contains the value itself, which may be a secret. */
export interface ValidationIssue {
  path: KeyPath
  /** A sentence without a full stop that names the key. */
  message: string
  /** The fix, without a full stop. */
  hint?: string
}

/** A problem with its location in a file. */
export interface FileIssue {
  /** The path relative to the home directory, with `/`. */
  file: string
  /** The line, 1-based. */
  line: number
  /** The column, 1-based; known for syntax errors only. */
  column: number | undefined
  /** The dotted path, such as `mcps[0].env.TOKEN`; empty when it concerns the whole file. */
  key: string
  message: string
  hint: string | undefined
}

/** A value, or all of its problems. */
export type Result<T, P = FileIssue> = { ok: true; value: T } | { ok: false; problems: readonly P[] }

/** Formats a path for users: `mcps[0].env.TOKEN`; keys with other characters are quoted. */
export function formatPath(path: KeyPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    const key = /^[\w-]+$/.test(part) ? part : `'${part}'`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

/**
 * Combines problems to one error of kind `config`. A single problem keeps its hint; several are listed one
 * per line.
 */
export function configError(problems: readonly FileIssue[]): CrabError {
  const lines = problems.map(({ message, hint, ...place }) => ({
    message: `${formatLocation(place)}: ${message}`,
    hint,
  }))
  return oneError('config', lines)
}

/** Combines issues in client input to one error of kind `invalid` whose message begins with `what`. */
export function inputError(what: string, issues: readonly ValidationIssue[]): CrabError {
  const [only, ...more] = issues
  if (only !== undefined && more.length === 0) {
    return oneError('invalid', [{ message: `${what}: ${only.message}`, hint: only.hint }])
  }
  return oneError('invalid', [{ message: `${what}:`, hint: undefined }, ...issues])
}

/** Formats the location of a problem: `agents/crab.toml:7`, with the column if known. */
export function formatLocation({ file, line, column }: Pick<FileIssue, 'file' | 'line' | 'column'>): string {
  return column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`
}

/** Formats a problem on one line: `agents/crab.toml:7: unknown key "modle" (did you mean "model"?)`. */
export function formatIssue({ message, hint, ...place }: FileIssue): string {
  return `${formatLocation(place)}: ${message}${hint === undefined ? '' : ` (${hint})`}`
}

function oneError(
  kind: ErrorKind,
  lines: readonly { message: string; hint?: string | undefined }[],
): CrabError {
  const [only, ...more] = lines
  if (only !== undefined && more.length === 0) {
    return new CrabError(kind, only.message, only.hint === undefined ? {} : { hint: only.hint })
  }
  return new CrabError(
    kind,
    lines.map(({ message, hint }) => (hint === undefined ? message : `${message} (${hint})`)).join('\n'),
  )
}
