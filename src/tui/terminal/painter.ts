import {
  countLineRows,
  type DrawnFrame,
  findRow,
  newDrawnFrame,
  type Reflow,
  reflow,
  type Size,
} from './reflow.ts'

/** Lines below the scrollback, and the column and line of the caret among them. */
export interface Frame {
  lines: readonly string[]
  caret: { x: number; y: number } | undefined
}

/**
 * Tracks what the terminal shows below the scrollback and computes the bytes that change it to the target
 * frame.
 *
 * It uses only relative movement, erasing below the cursor, text, and the cursor's visibility, so that
 * nothing above the frame can be changed.
 */
export class Painter {
  readonly #reflow: Reflow
  #printed = ''
  #targetFrame: Frame = { lines: [], caret: undefined }
  #shown: DrawnFrame | undefined
  #drawnFrame: Frame | undefined
  #isCursorShown = false
  /** Whether the frame on the screen is no longer as it was drawn. */
  #isTorn = false

  constructor(reflow: Reflow) {
    this.#reflow = reflow
  }

  /** Whether text for the scrollback waits to be drawn. */
  get hasPrinted(): boolean {
    return this.#printed !== ''
  }

  /** Adds text for the scrollback, which gets a final line break if it has none. */
  print(text: string): void {
    this.#printed += text.endsWith('\n') ? text : `${text}\n`
  }

  frame(lines: readonly string[]): void {
    this.#targetFrame = { lines: lines.length === 1 && lines[0] === '' ? [] : lines, caret: undefined }
  }

  /**
   * Sets the hardware cursor, in columns and lines of the frame; it is hidden when it lies outside the frame.
   */
  place(caret: { x: number; y: number } | undefined): void {
    const { lines } = this.#targetFrame
    const isInside = caret !== undefined && caret.y >= 0 && caret.y < lines.length
    this.#targetFrame = { lines, caret: isInside ? caret : undefined }
  }

  /** Returns the bytes that erase the frame, with the cursor at its start; it is drawn again afterwards. */
  erase(): string {
    const bytes = this.#shown ? this.#toTop() : ''
    this.forget()
    return bytes
  }

  /** Forgets the frame on the screen, because it is no longer where it was drawn. */
  forget(): void {
    this.#shown = undefined
    this.#drawnFrame = undefined
  }

  /** Returns the bytes that draw the target frame; empty when it is already shown. */
  draw(size: Size): string {
    if (this.#shown && (this.#shown.columns !== size.columns || this.#shown.rows !== size.rows)) {
      this.resized(size) // the resize event has not arrived yet
    }
    const isWhole = this.#shown !== undefined && !this.#isTorn
    const isSame = this.#drawnFrame !== undefined && isSameFrame(this.#targetFrame, this.#drawnFrame)
    if (this.#printed === '' && isSame && isWhole) return ''
    const isEmpty = (this.#shown?.lines.length ?? 0) === 0 && this.#targetFrame.lines.length === 0
    if (this.#printed === '' && isEmpty) return '' // the terminal may be lent
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

  /** Rewrites only the lines that differ; undefined when the number of lines or a height differs. */
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

  /** Adapts the frame to a new size of the terminal. */
  resized(size: Size): void {
    if (this.#shown) this.#shown = reflow(this.#shown, size, this.#reflow)
    this.#isTorn = true
  }

  /** Leaves the frame on the screen, with the cursor on a line of its own below it. */
  leave(): string {
    const shown = this.#shown
    this.forget()
    this.#targetFrame = { lines: [], caret: undefined }
    if (!shown || shown.lines.length === 0) return ''
    const below = shown.heights.reduce((sum, height) => sum + height, -1) - shown.row
    return `${LINE_FEED.repeat(Math.max(0, below))}\r\n`
  }

  /**
   * Moves to the start of the frame and erases everything below. Erasing begins in the second column: from the first one
   * of the first row, tmux keeps what is erased in its history.
   */
  #toTop(): string {
    const shown = this.#shown
    if (!shown || shown.lines.length === 0) return '\r'
    return `${shown.row > 0 ? `${ESC}[${shown.row}A` : ''}\r${ESC}[K${ESC}[2G${ESC}[J\r`
  }
}

function isSameFrame(one: Frame, other: Frame): boolean {
  if (one === other) return true
  if (one.caret?.x !== other.caret?.x || one.caret?.y !== other.caret?.y) return false
  return one.lines.length === other.lines.length && one.lines.every((line, at) => line === other.lines[at])
}

/** Returns the last lines that fit into one row less than the terminal has. */
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

/** Moves from the end of the last line to the caret. */
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
/**
 * Moves down, even past the last row: a terminal that was made lower may have dropped the rows below the
 * cursor.
 */
const LINE_FEED = '\n'
const BEGIN = `${ESC}[?2026h`
const END = `${ESC}[?2026l`
const HIDE = `${ESC}[?25l`
const SHOW = `${ESC}[?25h`
