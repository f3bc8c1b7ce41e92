import {
  deleteUnit,
  killUnit,
  moveTo,
  redo,
  replaceRange,
  settle,
  transpose,
  type Unit,
  undoEdit,
  unitEdge,
  yank,
  yankPop,
} from './editor.ts'
import { walkHistory } from './history.ts'
import { type Layout, layOut } from './layout.ts'
import type { Prompt, PromptContext } from './prompt-state.ts'
import { expandPaste, getSign } from './prompt-state.ts'

type Edit = (prompt: Prompt, context: PromptContext) => Prompt

/** The columns used beside the text: the sign before it, and one at the right edge for the caret. */
const SIGN_COLUMNS = 2
const EDGE_COLUMNS = 1

/** The commands that only edit the text, or move in it and in the history. */
export const EDITS = {
  'line-break': (prompt) => replaceRange(prompt, prompt.caret, prompt.caret, '\n'),
  up: (prompt, context) => vertical(prompt, -1, context),
  down: (prompt, context) => vertical(prompt, 1, context),
  left: moves('grapheme', 'back'),
  right: moves('grapheme', 'forward'),
  'word-left': moves('word', 'back'),
  'word-right': moves('word', 'forward'),
  'line-start': moves('line', 'back'),
  'line-end': moves('line', 'forward'),
  'text-start': moves('text', 'back'),
  'text-end': moves('text', 'forward'),
  'row-start': (prompt, context) => toColumn(prompt, 0, context),
  'row-end': (prompt, context) => toColumn(prompt, Number.POSITIVE_INFINITY, context),
  'delete-back': (prompt) => deleteUnit(prompt, 'grapheme', 'back'),
  delete: (prompt) => deleteUnit(prompt, 'grapheme', 'forward'),
  'kill-word-back': (prompt) => killUnit(prompt, 'word', 'back'),
  'kill-word': (prompt) => killUnit(prompt, 'word', 'forward'),
  'kill-blank-word-back': (prompt) => killUnit(prompt, 'blank-word', 'back'),
  'kill-line-back': (prompt) => killUnit(prompt, 'line', 'back'),
  'kill-line': (prompt) => killUnit(prompt, 'line', 'forward'),
  yank: (prompt) => yank(prompt),
  'yank-pop': (prompt) => yankPop(prompt),
  transpose: (prompt) => transpose(prompt),
  undo: (prompt) => undoEdit(prompt),
  redo: (prompt) => redo(prompt),
  'expand-paste': (prompt) => expandPaste(prompt),
} as const satisfies Record<string, Edit>

/** Lays out the text for the terminal. A leading `!` or `#` is left out, because the sign is drawn instead. */
export function layOutPrompt(prompt: Prompt, context: PromptContext): Layout {
  const from = getSign(prompt) ? 1 : 0
  const width = Math.max(1, context.columns - SIGN_COLUMNS - EDGE_COLUMNS)
  return layOut(prompt.text, { width, pastes: prompt.pastes, from })
}

function moves(unit: Unit, direction: 'back' | 'forward'): (prompt: Prompt) => Prompt {
  return (prompt) => moveTo(prompt, unitEdge(prompt, unit, direction))
}

function toColumn(prompt: Prompt, column: number, context: PromptContext): Prompt {
  const layout = layOutPrompt(prompt, context)
  return moveTo(prompt, layout.offset(layout.at(prompt.caret).y, column))
}

/** Moves one row up or down in the original column; at the first or last row, to an entry of the history. */
function vertical(prompt: Prompt, by: -1 | 1, context: PromptContext): Prompt {
  const layout = layOutPrompt(prompt, context)
  const { x, y } = layout.at(prompt.caret)
  const goal = prompt.goal ?? x
  if (y + by < 0 || y + by >= layout.lines.length) return walkHistory(prompt, by) ?? settle(prompt)
  return { ...moveTo(prompt, layout.offset(y + by, goal)), goal }
}
