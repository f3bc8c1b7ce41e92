import { parse } from 'smol-toml'
import { CrabError } from '../base/errors.ts'
import type { KeyPath } from './validation-issue.ts'

/** An item of a TOML text with its position: offsets in UTF-16 units, `end` exclusive. */
export interface TomlItem {
  /** A `[table]` or `[[list]]` line, a `key = value` pair, or an element of an inline list. */
  kind: 'table' | 'pair' | 'element'
  path: KeyPath
  /** The offset of the key, of the bracket of the table line, or of the element. */
  start: number
  /** The offset of a pair's value; equals `start` for other kinds. */
  valueStart: number
  end: number
  /** Whether the item is inside the value of another pair. */
  inline: boolean
}

/**
 * Yields every table line, pair and list element of a TOML text, in text order.
 *
 * The parser must have accepted the text: this only finds positions and validates nothing.
 */
export function* scanToml(text: string): Generator<TomlItem> {
  const cursor = new Cursor(text)
  const lengths = new Map<string, number>()
  let table: KeyPath = []
  for (cursor.take(BLANK); !cursor.isAtEnd; cursor.take(BLANK)) {
    const start = cursor.at
    const opening = cursor.take(OPENING)
    if (opening === '') {
      yield* scanPair(cursor, table, false)
      continue
    }
    table = openTable(readKey(cursor), opening.startsWith('[['), lengths)
    cursor.take(CLOSING)
    yield { kind: 'table', path: table, start, valueStart: start, end: cursor.at, inline: false }
  }
}

/**
 * Returns a function that finds the line (1-based) of a key path, or of the nearest enclosing table when the
 * text does not have the key.
 */
export function keyLineFinder(text: string): (path: KeyPath) => number {
  let items: TomlItem[] | undefined
  return (path) => {
    items ??= [...scanToml(text)]
    for (let length = path.length; length > 0; length--) {
      const match = items.find((item) => startsWith(item.path, path.slice(0, length)))
      if (match !== undefined) return text.slice(0, match.start).split('\n').length
    }
    return 1
  }
}

/** Whether `path` is equal to `head` or below it. */
export function startsWith(path: KeyPath, head: KeyPath): boolean {
  return head.length <= path.length && head.every((part, i) => part === path[i])
}

/** A position in a text that advances by sticky patterns. */
class Cursor {
  at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length
  }

  /** Returns the match at the current position, which may be empty, and advances past it. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [match = ''] = pattern.exec(this.#text) ?? []
    this.at += match.length
    return match
  }

  /** Like take(), for a pattern that must match. */
  need(pattern: RegExp): string {
    const match = this.take(pattern)
    if (match !== '') return match
    throw new CrabError('internal', `Cannot find a place in a TOML text: nothing fits at offset ${this.at}`)
  }
}

function* scanPair(cursor: Cursor, table: KeyPath, inline: boolean): Generator<TomlItem> {
  const start = cursor.at
  const path = [...table, ...readKey(cursor)]
  cursor.need(EQUALS)
  const valueStart = cursor.at
  const inside = [...scanValue(cursor, path)]
  yield { kind: 'pair', path, start, valueStart, end: cursor.at, inline }
  yield* inside
}

function* scanValue(cursor: Cursor, path: KeyPath): Generator<TomlItem> {
  if (cursor.take(LIST_OPEN)) {
    for (let index = 0; !cursor.take(LIST_CLOSE); index++) {
      const start = cursor.at
      const element = [...path, index]
      const inside = [...scanValue(cursor, element)]
      yield { kind: 'element', path: element, start, valueStart: start, end: cursor.at, inline: true }
      yield* inside
      cursor.take(COMMA)
    }
  } else if (cursor.take(TABLE_OPEN)) {
    while (!cursor.take(TABLE_CLOSE)) {
      yield* scanPair(cursor, path, true)
      cursor.take(COMMA)
    }
  } else {
    cursor.need(SCALAR)
  }
}

/** Reads the parts of a dotted key, and moves past it and the spaces that follow. */
function readKey(cursor: Cursor): string[] {
  const parts: string[] = []
  do {
    const part = cursor.need(KEY_PART).trim()
    parts.push(/^["']/.test(part) ? String(parse(`key = ${part}`)['key']) : part)
  } while (cursor.take(DOT))
  return parts
}

/**
 * Returns the path of a table line. Each list on the way refers to its last element; a `[[list]]` line adds
 * an element.
 */
function openTable(key: readonly string[], isList: boolean, lengths: Map<string, number>): KeyPath {
  const path: (string | number)[] = []
  for (const [i, part] of key.entries()) {
    path.push(part)
    const name = JSON.stringify(path)
    if (isList && i === key.length - 1) lengths.set(name, (lengths.get(name) ?? 0) + 1)
    const length = lengths.get(name)
    if (length !== undefined) path.push(length - 1)
  }
  return path
}

const BLANK = /(?:\s|#[^\n]*)*/y
const OPENING = /\[\[?[ \t]*/y
const CLOSING = /\]\]?/y
const KEY_PART = /(?:[\w-]+|"(?:\\.|[^"\\])*"|'[^']*')[ \t]*/y
const DOT = /\.[ \t]*/y
const EQUALS = /=[ \t]*/y
const LIST_OPEN = /\[(?:\s|#[^\n]*)*/y
const LIST_CLOSE = /\]/y
const TABLE_OPEN = /\{(?:\s|#[^\n]*)*/y
const TABLE_CLOSE = /\}/y
const COMMA = /(?:\s|#[^\n]*)*(?:,(?:\s|#[^\n]*)*)?/y
/** Strings of all four kinds, a date and time separated by a space, or anything up to a delimiter. */
const SCALAR =
  /"""(?:\\.|[^\\])*?"""(?!")|'''.*?'''(?!')|"(?:\\.|[^"\\])*"|'[^']*'|\d{4}-\d\d-\d\d[ Tt]\d\d:[^\s,\]}#]*|[^\s,\]}#]+/sy
