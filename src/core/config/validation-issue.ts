import { CrabError, type ErrorKind } from '../base/errors.ts'

/** The way to a value: table keys, and indexes of lists. */
export type KeyPath = readonly (string | number)[]

/** What is wrong with one value, wherever it came from. Never holds the value itself: it may be a secret. */
export interface ValidationIssue {
  path: KeyPath
  /** A sentence without a full stop that names the key. */
  message: string
  /** What to do, without a full stop. */
  hint?: string
}

/** A finding in a file. */
export interface FileIssue {
  /** Relative to the home directory, with `/`. */
  file: string
  /** 1-based. */
  line: number
  /** 1-based; known for syntax errors only. */
  column: number | undefined
  /** Dotted path, such as `mcps[0].env.TOKEN`; empty when the file as a whole is meant. */
  key: string
  message: string
  hint: string | undefined
}

/** A value, or everything that is wrong with it. */
export type Result<T, P = FileIssue> = { ok: true; value: T } | { ok: false; problems: readonly P[] }

/** A path as people write it: `mcps[0].env.TOKEN`; a key with other characters is quoted. */
export function formatPath(path: KeyPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    const key = /^[\w-]+$/.test(part) ? part : `'${part}'`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

/** The problems as one error of kind `config`; one alone brings its hint, several are listed one per line. */
export function configError(problems: readonly FileIssue[]): CrabError {
  const lines = problems.map(({ message, hint, ...place }) => ({
    message: `${formatLocation(place)}: ${message}`,
    hint,
  }))
  return oneError('config', lines)
}

/** Findings in what a client sent as one error of kind `invalid` that begins with `what`. */
export function inputError(what: string, findings: readonly ValidationIssue[]): CrabError {
  const [only, ...more] = findings
  if (only !== undefined && more.length === 0) {
    return oneError('invalid', [{ message: `${what}: ${only.message}`, hint: only.hint }])
  }
  return oneError('invalid', [{ message: `${what}:`, hint: undefined }, ...findings])
}

/** Where a problem is: `agents/crab.toml:7`, with the column if it is known. */
export function formatLocation({ file, line, column }: Pick<FileIssue, 'file' | 'line' | 'column'>): string {
  return column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`
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
