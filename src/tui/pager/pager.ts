import { findEscAction } from '../text/esc-key.ts'
import { cleanLine } from '../view/clean.ts'
import { paint } from '../view/style.ts'
import { measureWidth, truncateText } from '../view/text.ts'
import { type Document, type DocumentPosition, stripColors } from './document.ts'
import { type PagerKey, readPagerKey } from './keys.ts'

/** The state of a pager, apart from its document. Replaced, never mutated. */
export interface PagerState {
  top: DocumentPosition
  /** The search term; empty before a search. */
  word: string
  /** The text typed after `/`; undefined while no search is being typed. */
  typing: string | undefined
  /** A message on the last row until the next key. */
  note: string
}

/** A command that needs more than a state change. */
type PagerCommand = 'close' | 'edit' | 'redraw' | 'home' | 'search'

interface PagerPress {
  state: PagerState
  command?: PagerCommand
}

/** Creates a pager that shows the end of the document. */
export function newPager(document: Document, rows: number): PagerState {
  return { top: document.end(countBodyRows(rows)), word: '', typing: undefined, note: '' }
}

/**
 * Handles a key. Going to the start and searching need the whole conversation, so they are returned as a
 * command.
 */
export function pressPager(
  before: PagerState,
  key: string,
  { document, rows }: { document: Document; rows: number },
): PagerPress {
  const state = { ...before, note: '' }
  if (key === ESC) return escapePager(state)
  if (state.typing !== undefined) return typeWord(state, key, state.typing)
  const meaning = readPagerKey(key)
  if (!meaning) return { state }
  switch (meaning.do) {
    case 'search':
      return { state: { ...state, typing: '' } }
    case 'again':
      if (state.word !== '') return { state, command: 'search' }
      return { state: { ...state, top: movePastBlock(state.top, meaning.by, { document, rows }) } }
    case 'block':
      return { state: { ...state, top: movePastBlock(state.top, meaning.by, { document, rows }) } }
    case 'end':
      return { state: { ...state, top: document.end(countBodyRows(rows)) } }
    case 'move':
    case 'page':
      return { state: { ...state, top: movePosition(state.top, meaning, { document, rows }) } }
    default:
      return { state, command: meaning.do }
  }
}

function escapePager(state: PagerState): PagerPress {
  const action = findEscAction({ pager: state })
  return action === 'close-pager' ? { state, command: 'close' } : { state: { ...state, typing: undefined } }
}

const ESC = '\u001b'

/** Returns the search direction of a key. */
export function getSearchDirection(key: string): 1 | -1 {
  const meaning = readPagerKey(key)
  return meaning?.do === 'again' ? meaning.by : 1
}

/** Moves to the next line that contains the search term. */
export function searchNext(
  state: PagerState,
  by: 1 | -1,
  { document, rows }: { document: Document; rows: number },
): PagerState {
  const found = document.find(state.word, state.top, by)
  if (!found) return { ...state, note: `not found: ${state.word}` }
  return { ...state, top: clampPosition(found, { document, rows }) }
}

/** Renders all rows of the screen, none wider than it. */
export function renderPager(
  state: PagerState,
  { document, rows, title, isWhole }: { document: Document; rows: number; title: string; isWhole: boolean },
): string[] {
  const { columns, color } = document.view
  const body = countBodyRows(rows)
  const lines = document.linesFrom(state.top, body).map((line) => highlightMatch(line, state.word, color))
  const blank = Array.from({ length: body - lines.length }, () => '')
  if (rows < 2) return [...lines, ...blank]
  return [...lines, ...blank, statusRow(state, { document, rows, title, isWhole }, columns)]
}

/** Returns the rows available for the document; the last row is the status line. */
function countBodyRows(rows: number): number {
  return Math.max(1, rows - 1)
}

function typeWord(state: PagerState, key: string, typing: string): PagerPress {
  if (key === '\r' || key === '\n') {
    const word = typing === '' ? state.word : typing
    return {
      state: { ...state, typing: undefined, word },
      ...(word === '' ? {} : { command: 'search' as const }),
    }
  }
  if (key === '\u0003') return { state: { ...state, typing: undefined } }
  if (key === '\u007f' || key === '\b') {
    return { state: { ...state, typing: typing === '' ? undefined : [...typing].slice(0, -1).join('') } }
  }
  return { state: { ...state, typing: typing + cleanLine(key.startsWith('\u001b') ? '' : key) } }
}

function movePosition(
  top: DocumentPosition,
  key: PagerKey & { do: 'move' | 'page' },
  { document, rows }: { document: Document; rows: number },
): DocumentPosition {
  const lines = key.do === 'move' ? key.lines : Math.trunc(key.part * countBodyRows(rows))
  return clampPosition(document.move(top, lines), { document, rows })
}

/** Moves to the start of the next or previous message or file. */
function movePastBlock(
  top: DocumentPosition,
  by: 1 | -1,
  { document, rows }: { document: Document; rows: number },
): DocumentPosition {
  return clampPosition(document.moveBlock(top, by), { document, rows })
}

/** Limits a position so that the last line is on the last row, not above it. */
function clampPosition(
  position: DocumentPosition,
  { document, rows }: { document: Document; rows: number },
): DocumentPosition {
  const last = document.end(countBodyRows(rows))
  return isBefore(position, last) ? position : last
}

function isBefore(a: DocumentPosition, b: DocumentPosition): boolean {
  return a.block > b.block || (a.block === b.block && a.line < b.line)
}

/** Inverts the search term in a matching line, which loses its colors. */
function highlightMatch(line: string, word: string, color: boolean): string {
  const text = stripColors(line)
  const found = word === '' ? -1 : text.toLowerCase().indexOf(word.toLowerCase())
  if (found < 0 || text.toLowerCase().length !== text.length) return line
  const end = found + word.length
  if (!color) return line
  return `${text.slice(0, found)}\u001b[7m${text.slice(found, end)}\u001b[27m${text.slice(end)}`
}

function statusRow(
  { top, typing, note }: PagerState,
  { document, rows, title, isWhole }: { document: Document; rows: number; title: string; isWhole: boolean },
  columns: number,
): string {
  if (typing !== undefined) return truncateText(`/${typing}`, columns)
  const { color } = document.view
  if (note !== '') return paint(truncateText(cleanLine(note), columns), color, 'warning')
  const isEnd = !isBefore(top, document.end(countBodyRows(rows)))
  const part = isEnd ? 100 : Math.round((1 - top.block / Math.max(1, document.blocks - 1)) * 100)
  const place = isWhole ? `${part}%` : 'loading…'
  const words = [place, 'q back', 'n p next', '/ search', '↑ ↓ PgUp PgDn', 'v editor']
  return paint(truncateText(fitWords(cleanLine(title), words, columns), columns), color, 'dim')
}

/** Joins the title with as many words as fit; with less space than for four of them, the title is left out. */
function fitWords(title: string, words: readonly string[], columns: number): string {
  const lines = words.map((_, at) =>
    [title, ...words.slice(0, words.length - at)].filter(Boolean).join(' · '),
  )
  const fitting = lines.slice(0, words.length - MIN_WORDS + 1).find((line) => measureWidth(line) <= columns)
  return fitting ?? words.slice(0, MIN_WORDS).join(' · ')
}

const MIN_WORDS = 4
