import type { JsonObject } from '../base/message.ts'
import { findNameClash } from './mcp-declaration.ts'
import { migrateRegistryEntry, type OldRegistry } from './old-registry.ts'
import type { TomlDocument } from './toml.ts'
import { editToml } from './toml-edit.ts'
import { renderPair } from './toml-render.ts'
import { scanToml, type TomlItem } from './toml-scan.ts'
import type { KeyPath } from './validation-issue.ts'

/** An agent's file in the new form. */
export interface InlinedFile {
  text: string
  /** The number of servers in the file. */
  servers: number
  /**
   * Names that remain as a comment, with their line and the reason as the end of a sentence about the server.
   */
  left: readonly { name: string; line: number; why: string }[]
}

/**
 * Replaces the server names in an agent's file with the servers themselves; all other text stays. Names that
 * cannot be resolved become a comment.
 */
export function inlineServers({ text, table, lineOf }: TomlDocument, registry: OldRegistry): InlinedFile {
  const { mcps, ...rest } = table
  const entries: JsonObject[] = []
  const left: { name: string; line: number; why: string }[] = []
  for (const [i, element] of (Array.isArray(mcps) ? mcps : []).entries()) {
    const resolved =
      typeof element === 'string' ? find(element, registry, entries) : { entry: element as JsonObject }
    if ('entry' in resolved) entries.push(resolved.entry)
    else left.push({ name: String(element), line: lineOf(['mcps', i] satisfies KeyPath), why: resolved.why })
  }
  const without = withoutNames(
    text,
    left.map(({ name }) => name),
  )
  const after = entries.length === 0 ? rest : { ...rest, mcps: entries }
  return { text: editToml(without, rest, after), servers: entries.length, left }
}

function find(
  name: string,
  registry: OldRegistry,
  entries: readonly JsonObject[],
): { entry: JsonObject } | { why: string } {
  const server = registry.get(name)
  if (server === undefined) return { why: 'is not in a registry' }
  const outcome = migrateRegistryEntry(name, server)
  if (!outcome.ok)
    return { why: `cannot be used: ${outcome.problems.map(({ message }) => message).join('; ')}` }
  const clash = findNameClash(entries, outcome.value.name)
  return clash === undefined ? { entry: outcome.value } : { why: `has the same name as another: ${clash}` }
}

/**
 * Removes the list of names from the text. The unresolved names, and the comments within the list, remain as
 * comments.
 */
function withoutNames(text: string, left: readonly string[]): string {
  const pair = [...scanToml(text)].find(
    ({ kind, path }) => kind === 'pair' && path[0] === 'mcps' && path.length === 1,
  )
  if (pair === undefined) return text
  const [start, end] = findLineBounds(text, pair)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = [...commentsIn(text.slice(pair.valueStart, end))]
  if (left.length > 0) lines.push(NOTE, `# ${renderPair('mcps', left)}`)
  return text.slice(0, start) + lines.map((line) => line + eol).join('') + text.slice(end)
}

function findLineBounds(text: string, { start, end }: TomlItem): [number, number] {
  const next = text.indexOf('\n', end)
  return [text.lastIndexOf('\n', start - 1) + 1, next < 0 ? text.length : next + 1]
}

function commentsIn(value: string): string[] {
  const parts = value.match(/"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\r\n]*/g) ?? [] // strings may contain a #
  return parts.filter((part) => part.startsWith('#')).map((comment) => comment.trimEnd())
}

const NOTE =
  '# Servers of a registry that could not be moved here; `crabtalk mcp add NAME -- COMMAND` declares one:'
