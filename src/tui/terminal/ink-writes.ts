/** What Ink means by one write to its stdout (Ink 8, log-update and cursor-helpers). */
export type InkWrite =
  | { type: 'begin' }
  | { type: 'end' }
  /** Modes of the terminal and the cursor's visibility: nothing that moves or draws. */
  | { type: 'mode'; bytes: string }
  /** The frame is to go; what follows stands in its place. */
  | { type: 'erase' }
  /** The cursor moves within the frame, or with undefined rests under it. */
  | { type: 'caret'; caret: InkCaret | undefined }
  | { type: 'text'; text: string; caret: InkCaret | undefined }

/** Counted up from the line that the frame's text ends on: an empty one where it ends with a line break. */
export interface InkCaret {
  up: number
  x: number
}

/**
 * Reads a write of Ink's.
 *
 * Ink erases and moves relative to a cursor that it has only counted, which is wrong once a terminal has reflowed its
 * lines: so those sequences are read for their meaning, and never reach the terminal.
 */
export function readInkWrite(data: string): InkWrite {
  if (data === BEGIN) return { type: 'begin' }
  if (data === END) return { type: 'end' }
  if (MODE.test(data)) return { type: 'mode', bytes: data }
  const [prefix = ''] = PREFIX.exec(data) ?? []
  const suffix = SUFFIX.exec(data)
  const caret = suffix ? { up: Number(suffix[1] ?? 0), x: Number(suffix[2] ?? 1) - 1 } : undefined
  if (prefix.length === data.length && !suffix) {
    return ERASES.test(data) ? { type: 'erase' } : { type: 'caret', caret: undefined }
  }
  const text = data.slice(prefix.length, suffix ? -suffix[0].length : undefined)
  // With nothing between, the prefix has taken the moves that belong to the caret.
  if (prefix.length + (suffix?.[0].length ?? 0) > data.length || text === '') return { type: 'caret', caret }
  return { type: 'text', text, caret }
}

const ESC = '\u001b'
const BEGIN = `${ESC}[?2026h`
const END = `${ESC}[?2026l`
/** DEC private modes, kitty keyboard and the question for it. */
const MODE = new RegExp(`^(?:${ESC}\\[(?:\\?\\d+[hl]|[?<>=]\\d*u))+$`)
const PREFIX = new RegExp(`^(?:${ESC}\\[(?:\\?25[hl]|\\d*[ABG]|\\d+;\\d+H|2?K|J))+`)
const SUFFIX = new RegExp(`(?:${ESC}\\[(\\d+)A)?${ESC}\\[(\\d*)G${ESC}\\[\\?25h$`)
const ERASES = new RegExp(`${ESC}\\[(?:2?K|J)`)
