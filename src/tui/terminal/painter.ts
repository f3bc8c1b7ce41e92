import {
  countLineRows,
  type DrawnFrame,
  findRow,
  newDrawnFrame,
  type Reflow,
  reflow,
  type Size,
} from './reflow.ts'

interface Frame {
  lines: readonly string[]
  caret: { x: number; y: number } | undefined
}

/**
 * Knows what the terminal shows under the scrollback, and gives the bytes that bring it to what is wanted.
 *
 * Only relative movement, erasing below the cursor, text, and the cursor's visibility: nothing of this can touch what
 * stands above the frame.
 */
export class Painter {
  readonly #reflow: Reflow
  #printed = ''
  #targetFrame: Frame = { lines: [], caret: undefined }
  #shown: DrawnFrame | undefined
  #drawnFrame: Frame | undefined
  #isCursorShown = false
  /** What is shown is not as it was drawn. */
  #isTorn = false

  constructor(reflow: Reflow) {
    this.#reflow = reflow
  }

  /** Text for the scrollback; ends with a line break. */
  print(text: string): void {
    this.#printed += text.endsWith('\n') ? text : `${text}\n`
  }

  frame(lines: readonly string[]): void {
    this.#targetFrame = { lines: lines.length === 1 && lines[0] === '' ? [] : lines, caret: undefined }
  }

  /** The hardware cursor, in columns and lines of the frame; hidden when it is not within it. */
  place(caret: { x: number; y: number } | undefined): void {
    const { lines } = this.#targetFrame
    const isInside = caret !== undefined && caret.y >= 0 && caret.y < lines.length
    this.#targetFrame = { lines, caret: isInside ? caret : undefined }
  }

  /** Whatever was drawn is no longer where it was. */
  forget(): void {
    this.#shown = undefined
    this.#drawnFrame = undefined
  }

  /** The bytes that show what is wanted; empty when it is shown. */
  draw(size: Size): string {
    if (this.#shown && (this.#shown.columns !== size.columns || this.#shown.rows !== size.rows)) {
      this.resized(size) // before it was told
    }
    const isWhole = this.#shown !== undefined && !this.#isTorn
    if (this.#printed === '' && this.#targetFrame === this.#drawnFrame && isWhole) return ''
    const isEmpty = (this.#shown?.lines.length ?? 0) === 0 && this.#targetFrame.lines.length === 0
    if (this.#printed === '' && isEmpty) return '' // somebody else may have the terminal
    const next = fit(this.#targetFrame, size)
    const changed = this.#printed === '' && isWhole ? this.#change(next, size.columns) : undefined
    const bytes = changed ?? this.#toTop() + this.#printed + next.lines.join('\n')
    this.#drawnFrame = this.#targetFrame
    this.#printed = ''
    this.#shown = newDrawnFrame(next.lines, next.caret ?? locateEnd(next.lines, size.columns), size)
    this.#isTorn = false
    const hide = this.#isCursorShown ? HIDE : ''
    this.#isCursorShown = next.caret !== undefined
    return `${BEGIN}${hide}${bytes}${toCaret(next, size.columns)}${next.caret ? SHOW : ''}${END}`
  }

  /** Writes the lines anew that differ; undefined when their number or a height does. */
  #change({ lines }: Frame, columns: number): string | undefined {
    const shown = this.#shown!
    if (shown.lines.length !== lines.length) return undefined
    if ([...lines, ...shown.lines].some((line) => countLineRows(line, columns) > 1)) return undefined
    let at = shown.caret.y
    let bytes = ''
    const goTo = (y: number) => {
      bytes += y < at ? `${ESC}[${at - y}A` : LINE_FEED.repeat(y - at)
      at = y
    }
    lines.forEach((line, y) => {
      if (line === shown.lines[y]) return
      goTo(y)
      bytes += `\r${ESC}[2K${line}`
    })
    goTo(Math.max(0, lines.length - 1))
    return bytes
  }

  /** The terminal has another size now. */
  resized(size: Size): void {
    if (this.#shown) this.#shown = reflow(this.#shown, size, this.#reflow)
    this.#isTorn = true
  }

  /** Leaves the frame where it is, the cursor on a line of its own under it. */
  leave(): string {
    const shown = this.#shown
    this.forget()
    this.#targetFrame = { lines: [], caret: undefined }
    if (!shown || shown.lines.length === 0) return ''
    const below = shown.heights.reduce((sum, height) => sum + height, -1) - shown.row
    return `${LINE_FEED.repeat(Math.max(0, below))}\r\n`
  }

  /** To where the frame began, with nothing below. */
  #toTop(): string {
    const shown = this.#shown
    if (!shown || shown.lines.length === 0) return '\r'
    return `${shown.row > 0 ? `${ESC}[${shown.row}A` : ''}\r${ESC}[J`
  }
}

/** The last lines that fit, one row less than the terminal has. */
function fit({ lines, caret }: Frame, { columns, rows }: Size): Frame {
  let room = Math.max(1, rows - 1)
  let start = lines.length
  while (start > 0) {
    room -= countLineRows(lines[start - 1]!, columns)
    if (room < 0) break
    start--
  }
  const y = caret ? caret.y - start : -1
  return { lines: lines.slice(start), caret: caret && y >= 0 ? { x: caret.x, y } : undefined }
}

/** From the end of the last line. */
function toCaret({ lines, caret }: Frame, columns: number): string {
  if (!caret) return ''
  const end = locateEnd(lines, columns)
  const up = rowsBetween(lines, { from: caret, to: end }, columns)
  const x = caret.x - findRow(lines[caret.y]!, caret.x, columns) * columns
  return `${up > 0 ? `${ESC}[${up}A` : ''}${ESC}[${Math.min(x, columns - 1) + 1}G`
}

function locateEnd(lines: readonly string[], columns: number): { x: number; y: number } {
  const y = Math.max(0, lines.length - 1)
  return { x: countLineRows(lines[y] ?? '', columns) * columns - 1, y }
}

function rowsBetween(
  lines: readonly string[],
  { from, to }: { from: { x: number; y: number }; to: { x: number; y: number } },
  columns: number,
): number {
  const between = lines.slice(from.y, to.y).reduce((sum, line) => sum + countLineRows(line, columns), 0)
  return between + findRow(lines[to.y] ?? '', to.x, columns) - findRow(lines[from.y] ?? '', from.x, columns)
}

const ESC = '\u001b'
/** Down, and not stopped by the last row: a terminal that has become lower may have dropped what was below the cursor. */
const LINE_FEED = '\n'
const BEGIN = `${ESC}[?2026h`
const END = `${ESC}[?2026l`
const HIDE = `${ESC}[?25l`
const SHOW = `${ESC}[?25h`
