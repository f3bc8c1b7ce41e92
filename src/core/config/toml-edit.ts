import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import type { JsonObject } from '../base/message.ts'
import { isTable } from './schema.ts'
import { isTableList, renderPair, renderToml, renderTomlBlock, renderValue } from './toml-render.ts'
import { scanToml, startsWith, type TomlItem } from './toml-scan.ts'
import type { KeyPath } from './validation-issue.ts'

/**
 * A TOML text that says `after`, made from one that says `before` by changing only what differs.
 *
 * Comments, order and spacing of everything else survive. `[[lists]]` are matched by the `name`, or else the `id` or the `path`, of their tables.
 * Where that cannot be done (tables that changed places, say) the text is written anew under its opening comment.
 */
export function editToml(text: string, before: JsonObject, after: JsonObject): string {
  const edited = changeTable(text, { path: [], before, after })
  return says(edited, after) ? edited : joinLines(openingLines(text), renderToml(after))
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
  if (isTable(before) && isTable(after) && (hasTableLine(text, path) || hasDottedKeys(text, path, after))) {
    return changeTable(text, { path, before, after })
  }
  if (isTableList(before) && isTableList(after) && hasTableLine(text, [...path, 0])) {
    return changeList(text, { path, before, after })
  }
  return setKey(text, path, after)
}

/** Changes the tables that stay, cuts those that go, appends the new ones; all anew if the order is another. */
function changeList(text: string, { path, before, after }: Change<JsonObject[]>): string {
  const places = after.map((table) => before.findIndex((old) => identifyTable(old) === identifyTable(table)))
  const kept = places.filter((place) => place >= 0)
  const expected = [...kept.toSorted((a, b) => a - b), ...places.filter((place) => place < 0)]
  if (!isDeepStrictEqual(places, expected) || new Set(kept).size < kept.length)
    return setKey(text, path, after)
  let edited = text
  for (const [i, place] of kept.entries()) {
    edited = changeTable(edited, { path: [...path, place], before: before[place]!, after: after[i]! })
  }
  const gone = before.map((_, place) => [...path, place]).filter((_, place) => !kept.includes(place))
  const owned = statements(edited).filter((item) => gone.some((head) => startsWith(item.path, head)))
  return appendBlocks(cut(edited, owned), path, after.slice(kept.length))
}

function identifyTable(table: JsonObject): unknown {
  return table['name'] ?? table['id'] ?? table['path']
}

/** Writes, replaces or removes one key, whatever form it has in the text. */
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
  const without = cut(text, owned)
  if (value === undefined) return without
  return path.length === 1 && isTableList(value)
    ? appendBlocks(without, path, value)
    : insertPair(without, path, value)
}

/** Puts a pair behind the last one of its table. */
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

/** Removes these lines; a table line goes with all that stands under it and the comment right above it. */
function cut(text: string, owned: readonly TomlItem[]): string {
  const tables = statements(text).filter((item) => item.kind === 'table')
  let kept = ''
  let at = 0
  for (const item of owned) {
    const next = tables.find((table) => table.start > item.start)
    const [start, end] =
      item.kind === 'table'
        ? [commentStart(text, item.start), next === undefined ? text.length : commentStart(text, next.start)]
        : [lineStart(text, item.start), lineEnd(text, item.end)]
    kept += text.slice(at, Math.max(at, start))
    at = Math.max(at, end)
  }
  return kept + text.slice(at)
}

function statements(text: string): TomlItem[] {
  return [...scanToml(text)].filter((item) => !item.inline)
}

function hasTableLine(text: string, path: KeyPath): boolean {
  return statements(text).some((item) => item.kind === 'table' && isSame(item.path, path))
}

/** Whether a table is made of dotted keys alone, all that it shall have. */
function hasDottedKeys(text: string, path: KeyPath, table: JsonObject): boolean {
  const owned = statements(text).filter((item) => startsWith(item.path, path))
  return (
    owned.every((item) => item.kind === 'pair' && item.path.length > path.length) &&
    Object.keys(table).every((key) => owned.some((item) => item.path[path.length] === key))
  )
}

/** Where the comment lines right above a line begin; the line itself when there are none. */
function commentStart(text: string, offset: number): number {
  const start = lineStart(text, offset)
  if (start === 0) return 0
  const above = lineStart(text, start - 1)
  return /^[ \t]*#/.test(text.slice(above, start)) ? commentStart(text, above) : start
}

/** The comments and empty lines a text begins with. */
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

function says(text: string, table: JsonObject): boolean {
  try {
    return isSame(parse(text), table)
  } catch {
    return false // editToml() then writes the text anew
  }
}

/** Equal in value; the parser's tables have no prototype, others do. */
function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(structuredClone(a), structuredClone(b))
}
