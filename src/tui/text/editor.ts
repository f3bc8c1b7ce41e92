import { nextBoundary, previousBoundary, toBoundary } from './graphemes.ts'
import { cleanInput, holdPaste, isLongPaste, keepPastes, type Pastes } from './pastes.ts'
import { blankWordStart, findLineStart, lineEnd, wordEnd, wordStart } from './words.ts'

/** A text being edited. Replaced, never mutated. */
export interface Editor {
  /** The text as edited: a long paste is one character (pastes.ts). */
  text: string
  /** The UTF-16 offset of the caret, always between two graphemes. */
  caret: number
  /** The column that moving up and down aims at; undefined after any other key. */
  goal: number | undefined
  pastes: Pastes
  /** The kill ring, newest first. */
  kills: readonly string[]
  /** The text that the last yank inserted, so that `yankPop` can replace it. */
  yanked: { start: number; index: number } | undefined
  /** The undo stack, newest last. */
  undos: readonly Snapshot[]
  redos: readonly Snapshot[]
  /** The last kind of edit; another edit of the same kind joins it in one undo step. */
  last: 'type' | 'delete' | 'kill' | 'other'
}

/** A state of the text that undo restores. */
export interface Snapshot {
  text: string
  caret: number
}

export const EMPTY_EDITOR: Editor = {
  text: '',
  caret: 0,
  goal: undefined,
  pastes: new Map(),
  kills: [],
  yanked: undefined,
  undos: [],
  redos: [],
  last: 'other',
}

const MAX_KILLS = 30
const MAX_UNDOS = 200
/** The limit of UTF-16 units that all undo steps hold together. */
const MAX_UNDO_CHARS = 4_000_000

/** Inserts typed text at the caret. A word is one undo step. */
export function typeText<E extends Editor>(editor: E, typed: string): E {
  const text = cleanInput(typed)
  if (text === '') return editor
  if (isLongPaste(text)) return pasteText(editor, text)
  const joins = editor.last === 'type' && !/^\s/.test(text)
  return { ...replace(editor, { start: editor.caret, end: editor.caret, text, joins }), last: 'type' }
}

/** Inserts pasted text at the caret, as a placeholder when it is long. */
export function pasteText<E extends Editor>(editor: E, pasted: string): E {
  const text = cleanInput(pasted)
  const held = isLongPaste(text) ? holdPaste(editor.pastes, text) : undefined
  if (held === undefined) return insert(editor, text)
  return insert({ ...editor, pastes: held.pastes }, held.placeholder)
}

/** Replaces a range as one undo step and puts the caret after the new text. */
export function replaceRange<E extends Editor>(editor: E, start: number, end: number, text: string): E {
  return { ...replace(editor, { start, end, text, joins: false }), last: 'other' }
}

/** Replaces the whole text as one undo step and puts the caret at its end. */
export function replaceAll<E extends Editor>(editor: E, text: string): E {
  return replaceRange(editor, 0, editor.text.length, cleanInput(text))
}

/** Moves the caret, never into the middle of a grapheme. */
export function moveTo<E extends Editor>(editor: E, caret: number): E {
  const at = toBoundary(editor.text, caret)
  return { ...editor, caret: at, goal: undefined, yanked: undefined, last: 'other' }
}

/** A unit by which the caret moves or text is deleted. Backwards, a `blank-word` starts only after whitespace. */
export type Unit = 'grapheme' | 'word' | 'blank-word' | 'line' | 'text'

/** Returns the offset where the unit before the caret starts, or the one after it ends. */
export function unitEdge({ text, caret }: Editor, unit: Unit, direction: 'back' | 'forward'): number {
  const isBack = direction === 'back'
  switch (unit) {
    case 'grapheme':
      return isBack ? previousBoundary(text, caret) : nextBoundary(text, caret)
    case 'word':
      return isBack ? wordStart(text, caret) : wordEnd(text, caret)
    case 'blank-word':
      return isBack ? blankWordStart(text, caret) : wordEnd(text, caret)
    case 'line':
      return isBack ? findLineStart(text, caret) : lineEnd(text, caret)
    case 'text':
      return isBack ? 0 : text.length
  }
}

/** Deletes from the caret to the edge of a unit, without adding it to the kill ring. */
export function deleteUnit<E extends Editor>(editor: E, unit: Unit, direction: 'back' | 'forward'): E {
  const range = rangeTo(editor, unitEdge(editor, unit, direction))
  if (range.start === range.end) return settle(editor)
  return { ...replace(editor, { ...range, text: '', joins: editor.last === 'delete' }), last: 'delete' }
}

/**
 * Kills from the caret to the edge of a unit; consecutive kills form one entry. At the edge of a
 * line, the unit `line` kills the adjacent line feed.
 */
export function killUnit<E extends Editor>(editor: E, unit: Unit, direction: 'back' | 'forward'): E {
  const edge = unitEdge(editor, unit, direction)
  const isStuck = edge === editor.caret && unit === 'line'
  const range = rangeTo(editor, isStuck ? unitEdge(editor, 'grapheme', direction) : edge)
  if (range.start === range.end) return settle(editor)
  const killed = editor.text.slice(range.start, range.end)
  const joins = editor.last === 'kill'
  const before = joins ? (editor.kills[0] ?? '') : ''
  const kill = direction === 'back' ? killed + before : before + killed
  const kills = [kill, ...editor.kills.slice(joins ? 1 : 0)].slice(0, MAX_KILLS)
  return { ...replace(editor, { ...range, text: '', joins }), kills, last: 'kill' }
}

/** Inserts the newest kill. */
export function yank<E extends Editor>(editor: E): E {
  return yankAt(editor, editor.caret, 0)
}

/** Replaces the text of an immediately preceding yank with the next older kill. */
export function yankPop<E extends Editor>(editor: E): E {
  if (editor.yanked === undefined) return settle(editor)
  const { start, index } = editor.yanked
  return yankAt(editor, start, (index + 1) % editor.kills.length)
}

/** Swaps the graphemes around the caret, or the two before it at the end of a line. */
export function transpose<E extends Editor>(editor: E): E {
  const { text, caret } = editor
  const isAtEnd = caret === lineEnd(text, caret)
  const middle = isAtEnd ? previousBoundary(text, caret) : caret
  const start = previousBoundary(text, middle)
  const end = nextBoundary(text, middle)
  if (start < findLineStart(text, caret) || start === middle || end === middle) return settle(editor)
  return replaceRange(editor, start, end, text.slice(middle, end) + text.slice(start, middle))
}

/** Undoes one step. */
export function undoEdit<E extends Editor>(editor: E): E {
  const before = editor.undos.at(-1)
  if (before === undefined) return settle(editor)
  const redos = [...editor.redos, toSnapshot(editor)]
  return { ...settle(editor), ...before, undos: editor.undos.slice(0, -1), redos }
}

/** Redoes one undone step. */
export function redo<E extends Editor>(editor: E): E {
  const after = editor.redos.at(-1)
  if (after === undefined) return settle(editor)
  const undos = [...editor.undos, toSnapshot(editor)]
  return { ...settle(editor), ...after, undos, redos: editor.redos.slice(0, -1) }
}

/** Empties the editor but keeps its kill ring. With `kill`, the text is added to it. */
export function clearEditor<E extends Editor>(editor: E, { kill }: { kill: boolean }): E {
  const isKilled = kill && editor.text !== ''
  const kills = isKilled ? [editor.text, ...editor.kills].slice(0, MAX_KILLS) : editor.kills
  return { ...editor, ...EMPTY_EDITOR, kills, pastes: keepPastes(editor.pastes, kills) }
}

/** Ends the current edit, so that the next key starts a new undo step. */
export function settle<E extends Editor>(editor: E): E {
  return { ...editor, goal: undefined, yanked: undefined, last: 'other' }
}

interface Replacement {
  start: number
  end: number
  text: string
  /** Whether the edit joins the last undo step. */
  joins: boolean
}

function replace<E extends Editor>(editor: E, { start, end, text, joins }: Replacement): E {
  const whole = editor.text.slice(0, start) + text + editor.text.slice(end)
  const undos = joins && editor.undos.length > 0 ? editor.undos : withSnapshot(editor)
  const caret = toBoundary(whole, start + text.length)
  return { ...editor, text: whole, caret, goal: undefined, yanked: undefined, undos, redos: [] }
}

function insert<E extends Editor>(editor: E, text: string): E {
  return text === '' ? settle(editor) : replaceRange(editor, editor.caret, editor.caret, text)
}

function yankAt<E extends Editor>(editor: E, start: number, index: number): E {
  const kill = editor.kills[index]
  if (kill === undefined) return settle(editor)
  const yanked = replaceRange(editor, start, editor.caret, kill)
  return { ...yanked, yanked: { start, index } }
}

function withSnapshot(editor: Editor): Snapshot[] {
  const all = [...editor.undos, toSnapshot(editor)].slice(-MAX_UNDOS)
  let chars = 0
  const first = all.findLastIndex(({ text }) => {
    chars += text.length
    return chars > MAX_UNDO_CHARS
  })
  return first < 0 ? all : all.slice(first + 1)
}

function toSnapshot({ text, caret }: Editor): Snapshot {
  return { text, caret }
}

function rangeTo({ caret }: Editor, edge: number): { start: number; end: number } {
  return { start: Math.min(caret, edge), end: Math.max(caret, edge) }
}
