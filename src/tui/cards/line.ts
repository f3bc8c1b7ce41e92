import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'
import { toGraphemes, widthOf } from '../view/text.ts'

/** A line of text that is edited in a card or an overlay. Replaced, never changed. */
export interface Line {
  text: string
  /** UTF-16 offset, always between two graphemes. */
  caret: number
}

export const EMPTY_LINE: Line = { text: '', caret: 0 }

/** What a key does to the line; undefined for a key that does nothing in a line. */
export function pressLine(line: Line, key: KeyPress): Line | undefined {
  if (key.name === 'paste' || (key.name === 'text' && !key.ctrl && !key.alt)) {
    return insert(line, cleanLine(key.text))
  }
  const name = key.ctrl && key.name === 'text' ? CONTROLS.get(key.text.toLowerCase()) : key.name
  const edit = EDITS.get(name ?? '')
  return edit?.(line)
}

/** The part of a line that fits, with the column of the caret in it. */
export function showLine({ text, caret }: Line, width: number): { text: string; x: number } {
  const room = Math.max(2, width)
  const before = toGraphemes(text.slice(0, caret))
  let start = before.length
  let x = 0
  while (start > 0 && x + widthOf(before[start - 1]!) < room) {
    start -= 1
    x += widthOf(before[start]!)
  }
  let shown = before.slice(start).join('')
  let filled = x
  for (const grapheme of toGraphemes(text.slice(caret))) {
    filled += widthOf(grapheme)
    if (filled > room) break
    shown += grapheme
  }
  return { text: shown, x }
}

function insert({ text, caret }: Line, added: string): Line {
  return { text: text.slice(0, caret) + added + text.slice(caret), caret: caret + added.length }
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['a', 'home'],
  ['e', 'end'],
  ['b', 'left'],
  ['f', 'right'],
  ['h', 'backspace'],
  ['k', 'cut-end'],
  ['u', 'cut-start'],
  ['w', 'cut-word'],
])

type Edit = (line: Line) => Line

const EDITS: ReadonlyMap<string, Edit> = new Map<string, Edit>([
  ['left', ({ text, caret }) => ({ text, caret: caret - (lastOf(text.slice(0, caret))?.length ?? 0) })],
  ['right', ({ text, caret }) => ({ text, caret: caret + (firstOf(text.slice(caret))?.length ?? 0) })],
  ['home', ({ text }) => ({ text, caret: 0 })],
  ['end', ({ text }) => ({ text, caret: text.length })],
  ['backspace', (line) => cutTo(line, line.caret - (lastOf(line.text.slice(0, line.caret))?.length ?? 0))],
  ['delete', (line) => cutTo(line, line.caret + (firstOf(line.text.slice(line.caret))?.length ?? 0))],
  ['cut-end', (line) => cutTo(line, line.text.length)],
  ['cut-start', (line) => cutTo(line, 0)],
  ['cut-word', (line) => cutTo(line, line.text.slice(0, line.caret).replace(/\S*\s*$/, '').length)],
])

/** Without what stands between the caret and `place`. */
function cutTo({ text, caret }: Line, place: number): Line {
  const [from, to] = [Math.min(caret, place), Math.max(caret, place)]
  return { text: text.slice(0, from) + text.slice(to), caret: from }
}

function lastOf(text: string): string | undefined {
  return toGraphemes(text).at(-1)
}

function firstOf(text: string): string | undefined {
  return toGraphemes(text)[0]
}
