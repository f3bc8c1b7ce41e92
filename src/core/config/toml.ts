import { parse, TomlError } from 'smol-toml'
import type { JsonObject } from '../base/message.ts'
import { keyLineFinder } from './toml-scan.ts'
import {
  type FileIssue,
  formatPath,
  type KeyPath,
  type Result,
  type ValidationIssue,
} from './validation-issue.ts'

/** A parsed TOML file. */
export interface TomlDocument {
  /** The file name in problem reports: relative to the home directory, with `/`. */
  file: string
  text: string
  table: JsonObject
  /** Returns the line (1-based) of a key, or of the nearest enclosing table. */
  lineOf(path: KeyPath): number
}

/** Parses a TOML text. The only possible problem is a syntax error, with line and column. */
export function parseToml(file: string, content: string): Result<TomlDocument> {
  const text = content.replace(/^\uFEFF/, '')
  try {
    return { ok: true, value: { file, text, table: parse(text), lineOf: keyLineFinder(text) } }
  } catch (reason) {
    if (!(reason instanceof TomlError)) throw reason
    const { line, column } = reason
    const why = parserReason(reason.message)
    const hint = why === 'invalid value' ? 'text needs quotes: key = "text"' : undefined
    const message = `not valid TOML: ${why}`
    return { ok: false, problems: [{ file, line, column, key: '', message, hint }] }
  }
}

/** Converts issues to problems of their file, ordered by line. */
export function toFileIssues(document: TomlDocument, issues: readonly ValidationIssue[]): FileIssue[] {
  const problems = issues.map(({ path, message, hint }) => ({
    file: document.file,
    line: document.lineOf(path),
    column: undefined,
    key: formatPath(path),
    message,
    hint,
  }))
  return problems.sort((a, b) => a.line - b.line)
}

/** Returns only the parser's reason: the lines after it quote the text, which may contain a secret. */
function parserReason(message: string): string {
  const [first = ''] = message.split('\n')
  return first.replace(/^Invalid TOML document: /, '')
}
