import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import type { JsonObject } from '../base/message.ts'
import { isTable } from './schema.ts'
import { isTableList, renderPair, renderToml, renderTomlBlock, renderValue } from './toml-render.ts'
import { scanToml, startsWith, type TomlItem } from './toml-scan.ts'
import type { KeyPath } from './validation-issue.ts'

/**
 * Edits a TOML text that represents `before` so that it represents `after`, changing only what differs.
 *
 * Comments, order and spacing of everything else stay. Tables in `[[lists]]` are matched by their `name`, or
 * else their `id` or `path`. Where a minimal edit is not possible (for example, when tables changed places)
 * the text is rewritten below its opening comment.
 */
export function editToml(text: string, before: JsonObject, after: JsonObject): string {
  const edited = changeTable(text, { path: [], before, after })
  return represents(edited, after) ? edited : joinLines(openingLines(text), renderToml(after))
}

interface Change<T> {
  path: KeyPath
  before: T
  after: T
}

function changeTable(text: string, { path, before, after }: Change<JsonObject>): string {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].reduce(
    (edited, key) => changeKey(edited, { path: [...path, key], before: before[key], after: after[key] }),
    text,
  )
}

function changeKey(text: string, { path, before, after }: Change<unknown>): string {
  if (isSame(before, after)) return text
  if (isTable(before) && isTable(after)) {
    const hasOwnLines = hasDottedKeys(text, path, after) || hasOnlySubtables(text, path, after)
    if (hasTableLine(text, path) || hasOwnLines) return changeTable(text, { path, before, after })
  }
  if (isTableList(before) && isTableList(after) && hasTableLine(text, [...path, 0])) {
    return changeList(text, { path, before, after })
  }
  return setKey(text, path, after)
}

/**
 * Edits the tables that stay, removes the deleted ones and appends the new ones. Rewrites the list if the
 * order differs.
 */
function changeList(text: string, { path, before, after }: Change<JsonObject[]>): string {
  const oldIndexes = after.map((table) =>
    before.findIndex((old) => identifyTable(old) === identifyTable(table)),
  )
  const retained = oldIndexes.filter((index) => index >= 0)
  const expected = [...retained.toSorted((a, b) => a - b), ...oldIndexes.filter((index) => index < 0)]
  if (!isDeepStrictEqual(oldIndexes, expected) || new Set(retained).size < retained.length)
    return setKey(text, path, after)
  let edited = text
  for (const [i, index] of retained.entries()) {
    edited = changeTable(edited, { path: [...path, index], before: before[index]!, after: after[i]! })
  }
  const removed = before.map((_, index) => [...path, index]).filter((_, index) => !retained.includes(index))
  const owned = statements(edited).filter((item) => removed.some((head) => startsWith(item.path, head)))
  return appendBlocks(removeItems(edited, owned), path, after.slice(retained.length))
}

function identifyTable(table: JsonObject): unknown {
  return table['name'] ?? table['id'] ?? table['path']
}

/** Writes, replaces or removes one key, whatever its form in the text. */
function setKey(text: string, path: KeyPath, value: unknown): string {
  const owned = statements(text).filter((item) => startsWith(item.path, path))
  const [only, ...others] = owned
  if (
    value !== undefined &&
    only?.kind === 'pair' &&
    only.path.length === path.length &&
    others.length === 0
  ) {
    return text.slice(0, only.valueStart) + renderValue(value) + text.slice(only.end)
  }
  const without = removeItems(text, owned)
  if (value === undefined) return without
  return path.length === 1 && isTableList(value)
    ? appendBlocks(without, path, value)
    : insertPair(without, path, value)
}

/** Inserts a pair after the last one of its table. */
function insertPair(text: string, path: KeyPath, value: unknown): string {
  const table = path.slice(0, -1)
  const items = statements(text)
  const head = items.findIndex((item) => item.kind === 'table' && isSame(item.path, table))
  const next = items.findIndex((item, i) => i > head && item.kind === 'table')
  const last = next < 0 ? items.at(-1) : items[next - 1]
  const pair = renderPair(String(path.at(-1)), value) + eol(text)
  if (last !== undefined) return splitAt(text, lineEnd(text, last.end), pair)
  return next < 0
    ? joinLines(text, pair)
    : splitAt(text, commentStart(text, items[0]!.start), pair + eol(text))
}

function appendBlocks(text: string, path: KeyPath, tables: readonly JsonObject[]): string {
  const blocks = tables.map((table) =>
    renderTomlBlock(String(path.at(-1)), table).replaceAll('\n', eol(text)),
  )
  return [text.replace(/\s+$/, eol(text)), ...blocks].filter((part) => part.trim() !== '').join(eol(text))
}

/** Removes items. A table line is removed with its content and the comment directly above it. */
function removeItems(text: string, owned: readonly TomlItem[]): string {
  const tables = statements(text).filter((item) => item.kind === 'table')
  let result = ''
  let at = 0
  for (const item of owned) {
    const next = tables.find((table) => table.start > item.start)
    const [start, end] =
      item.kind === 'table'
        ? [commentStart(text, item.start), next === undefined ? text.length : commentStart(text, next.start)]
        : [lineStart(text, item.start), lineEnd(text, item.end)]
    result += text.slice(at, Math.max(at, start))
    at = Math.max(at, end)
  }
  return result + text.slice(at)
}

function statements(text: string): TomlItem[] {
  return [...scanToml(text)].filter((item) => !item.inline)
}

function hasTableLine(text: string, path: KeyPath): boolean {
  return statements(text).some((item) => item.kind === 'table' && isSame(item.path, path))
}

/** Whether a table consists of dotted keys only, and none of its new keys is missing. */
function hasDottedKeys(text: string, path: KeyPath, table: JsonObject): boolean {
  const owned = statements(text).filter((item) => startsWith(item.path, path))
  return (
    owned.every((item) => item.kind === 'pair' && item.path.length > path.length) &&
    Object.keys(table).every((key) => owned.some((item) => item.path[path.length] === key))
  )
}

/** Whether a table consists of `[table.sub]` lines only, and none of its new keys is missing. */
function hasOnlySubtables(text: string, path: KeyPath, table: JsonObject): boolean {
  const owned = statements(text).filter((item) => startsWith(item.path, path))
  const heads = owned.filter(({ kind }) => kind === 'table')
  return (
    owned[0]?.kind === 'table' &&
    heads.every((item) => item.path.length > path.length) &&
    Object.keys(table).every((key) => heads.some((item) => item.path[path.length] === key))
  )
}

/**
 * Returns the start of the comment lines directly above a line; the start of the line itself when there are
 * none.
 */
function commentStart(text: string, offset: number): number {
  const start = lineStart(text, offset)
  if (start === 0) return 0
  const above = lineStart(text, start - 1)
  return /^[ \t]*#/.test(text.slice(above, start)) ? commentStart(text, above) : start
}

/** Returns the comments and empty lines at the beginning of a text. */
function openingLines(text: string): string {
  return /^(?:[ \t]*(?:#[^\n]*)?(?:\n|$))*/.exec(text)?.[0] ?? ''
}

function joinLines(head: string, tail: string): string {
  return head === '' || head.endsWith('\n') ? head + tail : head + eol(head) + tail
}

function splitAt(text: string, offset: number, between: string): string {
  return joinLines(text.slice(0, offset), between) + text.slice(offset)
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end + 1
}

function eol(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

function represents(text: string, table: JsonObject): boolean {
  try {
    return isSame(parse(text), table)
  } catch {
    return false // editToml() then rewrites the text
  }
}

/** Compares by value. It ignores prototypes, since the parser's tables have none. */
function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(structuredClone(a), structuredClone(b))
}
