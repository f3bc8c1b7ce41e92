/** The meaning of one write by Ink to its stdout (Ink 8, log-update and cursor-helpers). */
export type InkWrite =
  | { type: 'begin' }
  | { type: 'end' }
  /** Terminal modes and cursor visibility; nothing moves or is drawn. */
  | { type: 'mode'; bytes: string }
  /** The frame is erased; the next text replaces it. */
  | { type: 'erase' }
  /** The cursor moves within the frame; undefined moves it below the frame. */
  | { type: 'caret'; caret: InkCaret | undefined }
  | { type: 'text'; text: string; caret: InkCaret | undefined }

/**
 * A cursor position. `up` counts from the line on which the frame's text ends, an empty one when the text
 * ends with a line break.
 */
export interface InkCaret {
  up: number
  x: number
}

/**
 * Interprets a write by Ink.
 *
 * Ink erases and moves relative to a cursor position that it only calculates, which is wrong once the
 * terminal has reflowed its lines. Those sequences are therefore interpreted here and never reach the
 * terminal.
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
  // Without text, the prefix has matched the movements that belong to the caret.
  if (prefix.length + (suffix?.[0].length ?? 0) > data.length || text === '') return { type: 'caret', caret }
  return { type: 'text', text, caret }
}

const ESC = '\u001b'
const BEGIN = `${ESC}[?2026h`
const END = `${ESC}[?2026l`
/** DEC private modes, and the kitty keyboard protocol with its query. */
const MODE = new RegExp(`^(?:${ESC}\\[(?:\\?\\d+[hl]|[?<>=]\\d*u))+$`)
const PREFIX = new RegExp(`^(?:${ESC}\\[(?:\\?25[hl]|\\d*[ABG]|\\d+;\\d+H|2?K|J))+`)
const SUFFIX = new RegExp(`(?:${ESC}\\[(\\d+)A)?${ESC}\\[(\\d*)G${ESC}\\[\\?25h$`)
const ERASES = new RegExp(`${ESC}\\[(?:2?K|J)`)
