import {
  deleteUnit,
  type Editor,
  EMPTY_EDITOR,
  killUnit,
  moveTo,
  redo,
  replaceRange,
  type Unit,
  undo,
  unitEdge,
  yank,
} from '../text/editor.ts'
import { toGraphemes } from '../text/graphemes.ts'
import type { KeyPress } from '../text/key.ts'
import { commandOf, type PromptCommand } from '../text/keymap.ts'
import { cleanLine } from '../view/clean.ts'
import { widthOf } from '../view/text.ts'

/** A text that is edited on one line, in a card. Replaced, never changed. */
export type Line = Editor

export const EMPTY_LINE: Line = EMPTY_EDITOR

/** What a key does to the line, as in the prompt; undefined for a key that does nothing in a line. */
export function pressLine(line: Line, key: KeyPress): Line | undefined {
  if (key.name === 'paste' || (key.name === 'text' && !key.ctrl && !key.alt)) {
    return replaceRange(line, line.caret, line.caret, cleanLine(key.text))
  }
  const command = commandOf(key)
  return command && EDITS[command]?.(line)
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

const EDITS: Partial<Record<PromptCommand, (line: Line) => Line>> = {
  left: moves('grapheme', 'back'),
  right: moves('grapheme', 'forward'),
  'word-left': moves('word', 'back'),
  'word-right': moves('word', 'forward'),
  'row-start': moves('text', 'back'),
  'line-start': moves('text', 'back'),
  'text-start': moves('text', 'back'),
  'row-end': moves('text', 'forward'),
  'line-end': moves('text', 'forward'),
  'text-end': moves('text', 'forward'),
  'delete-back': (line) => deleteUnit(line, 'grapheme', 'back'),
  delete: (line) => deleteUnit(line, 'grapheme', 'forward'),
  'kill-word-back': (line) => killUnit(line, 'word', 'back'),
  'kill-word': (line) => killUnit(line, 'word', 'forward'),
  'kill-blank-word-back': (line) => killUnit(line, 'blank-word', 'back'),
  'kill-line-back': (line) => killUnit(line, 'text', 'back'),
  'kill-line': (line) => killUnit(line, 'text', 'forward'),
  yank,
  undo,
  redo,
}

function moves(unit: Unit, direction: 'back' | 'forward'): (line: Line) => Line {
  return (line) => moveTo(line, unitEdge(line, unit, direction))
}
