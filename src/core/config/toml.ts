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

/** A TOML file that could be parsed. */
export interface TomlDocument {
  /** The name problems give: relative to the home directory, with `/`. */
  file: string
  text: string
  table: JsonObject
  /** The line (1-based) of a key, or of the nearest table around it. */
  lineOf(path: KeyPath): number
}

/** Parses a TOML text; the only possible problem is its syntax, with line and column. */
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

/** Findings as problems of the file they were found in, in the order of its lines. */
export function toFileIssues(document: TomlDocument, findings: readonly ValidationIssue[]): FileIssue[] {
  const problems = findings.map(({ path, message, hint }) => ({
    file: document.file,
    line: document.lineOf(path),
    column: undefined,
    key: formatPath(path),
    message,
    hint,
  }))
  return problems.sort((a, b) => a.line - b.line)
}

/** The parser's reason alone: the lines it adds quote the text, which may hold a secret. */
function parserReason(message: string): string {
  const [first = ''] = message.split('\n')
  return first.replace(/^Invalid TOML document: /, '')
}
