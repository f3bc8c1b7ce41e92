import { EventEmitter } from 'node:events'
import type { Writable } from 'node:stream'
import { type InkCaret, type InkWrite, readInkWrite } from './ink-writes.ts'
import { Painter } from './painter.ts'
import type { Reflow, Size } from './reflow.ts'

/** The terminal: a stream that tells its size and when it changes. */
export interface TerminalStream extends Pick<Writable, 'writableNeedDrain'> {
  readonly columns?: number
  readonly rows?: number
  write(bytes: string, done?: (error?: Error | null) => void): boolean
  /** Asks the terminal, and emits `resize` if it has another size: Node's own, which otherwise waits for SIGWINCH. */
  _refreshSize?(): void
  on(event: 'resize' | 'drain' | 'error', listener: (reason?: Error) => void): unknown
  off(event: 'resize' | 'drain' | 'error', listener: (reason?: Error) => void): unknown
}

export interface ScreenOptions {
  output: TerminalStream
  reflow: Reflow
  /** How long a size must have stood before it is drawn for; one that never stands is drawn for after eight times that. */
  intervalMs?: number
  /** The terminal cannot be written any more. Nothing is, from then on. */
  onGone?(reason: Error): void
}

/** What was written so far. */
export interface WriteStats {
  writes: number
  bytes: number
}

/**
 * The terminal as Ink is given it.
 *
 * Ink's writes are read for what they mean (text for the scrollback, the frame, its caret), and drawn by a Painter that
 * knows what the terminal shows. Ink's own erasing, which counts lines, and its clearing of the screen never happen.
 * What a component prints goes through `useStdout().write`, not through <Static>, whose text Ink joins with the frame
 * when it means to clear the screen.
 */
export class Screen implements Disposable {
  /** For Ink's `stdout`, with `interactive: true` and `isScreenReaderEnabled: false`. */
  readonly ink: NodeJS.WriteStream
  readonly #options: ScreenOptions
  readonly #painter: Painter
  readonly #events = new EventEmitter()
  readonly #modes = new Set<string>()
  readonly #writeStats: WriteStats = { writes: 0, bytes: 0 }
  #size: Size
  #texts: { text: string; caret: InkCaret | undefined }[] = []
  /** Of the frame that Ink wrote last, as it counts them. */
  #inkLines = 0
  /** Ink is in the middle of a frame. */
  #isInFrame = false
  /** Ink is answering a resize, perhaps with several frames. */
  #isHeld = false
  #timer: NodeJS.Timeout | undefined
  #stormSince = 0
  #isDrawingSoon = false
  #gone = false

  constructor(options: ScreenOptions) {
    this.#options = options
    this.#painter = new Painter(options.reflow)
    this.#size = getSize(options.output)
    this.ink = this.#makeFacade()
    const { output } = options
    output.on('resize', this.#resized)
    output.on('drain', this.#draw)
    output.on('error', this.#failed)
  }

  /** As it was last told to the listeners of resizes. */
  get size(): Size {
    return this.#size
  }

  get writeStats(): WriteStats {
    return { ...this.#writeStats }
  }

  /** No redraw is still to come that a resize has caused. */
  get isQuiet(): boolean {
    return this.#timer === undefined
  }

  /** Calls back with the new size, before Ink lays out again; a storm of resizes calls back once an interval. */
  onResize(listener: (size: Size) => void): Disposable {
    this.#events.on('resize', listener)
    return { [Symbol.dispose]: () => void this.#events.off('resize', listener) }
  }

  /** What undoes the modes that are on now, with the cursor under the frame; for a guard that writes it at once. */
  restoring(): string {
    const kitty = this.#modes.has('kitty') ? '\u001b[<u' : ''
    const modes = ['?2004', '?1049'].filter((mode) => this.#modes.has(mode))
    return `\u001b[?2026l${this.#painter.leave()}${kitty}${modes.map((mode) => `\u001b[${mode}l`).join('')}\u001b[0m\u001b[?25h`
  }

  /** Writes bytes of somebody else who draws while Ink has lent the terminal; modes they set are undone, too. */
  write(bytes: string): void {
    this.#drawNow()
    this.#noteModes(bytes)
    this.#write(bytes)
  }

  /** The terminal no longer shows the frame where it was: somebody else has written to it. */
  forget(): void {
    this.#painter.forget()
  }

  /** Draws the frame again where the cursor is. */
  redraw(): void {
    this.forget()
    this.#draw()
  }

  [Symbol.dispose](): void {
    const { output } = this.#options
    clearTimeout(this.#timer)
    output.off('resize', this.#resized)
    output.off('drain', this.#draw)
    this.#drawNow()
    this.#write(this.#painter.leave())
    output.off('error', this.#failed)
    this.#gone = true
  }

  #makeFacade(): NodeJS.WriteStream {
    const facade = Object.assign(new EventEmitter(), {
      isTTY: true,
      writable: true,
      destroyed: false,
      writableEnded: false,
      columns: this.#size.columns,
      rows: this.#size.rows,
      write: (data: string, done?: () => void) => {
        this.#take(readInkWrite(data), data)
        if (done) this.#afterWrites(done)
        return true
      },
    })
    return facade as unknown as NodeJS.WriteStream
  }

  #take(write: InkWrite, data: string): void {
    if (data === '') return
    if (write.type === 'mode')
      this.write(write.bytes) // behind them somebody else may have the terminal
    else if (write.type === 'begin') this.#isInFrame = true
    else if (write.type === 'end') this.#isInFrame = false
    else if (write.type === 'text') this.#texts.push(write)
    else if (write.type === 'erase') this.#painter.frame([])
    else this.#place(write.caret)
    if (!this.#isInFrame) this.#commit()
  }

  #place(caret: InkCaret | undefined): void {
    const last = this.#texts.at(-1)
    if (last) last.caret = caret
    else this.#painter.place(this.#toCaret(caret))
  }

  #toCaret(caret: InkCaret | undefined): { x: number; y: number } | undefined {
    return caret && { x: caret.x, y: this.#inkLines - 1 - caret.up }
  }

  /** The last text is the frame; what came before it belongs to the scrollback. */
  #commit(): void {
    const frame = this.#texts.pop()
    for (const { text } of this.#texts.splice(0)) this.#painter.print(text)
    if (frame) {
      const lines = frame.text.split('\n')
      this.#inkLines = lines.length
      this.#painter.frame(lines.at(-1) === '' ? lines.slice(0, -1) : lines)
      this.#painter.place(this.#toCaret(frame.caret))
    }
    this.#drawSoon()
  }

  /** What Ink writes within one tick is drawn in one piece: a frame, and what moves from it to the scrollback. */
  #drawSoon(): void {
    if (this.#isDrawingSoon) return
    this.#isDrawingSoon = true
    queueMicrotask(() => {
      if (this.#isDrawingSoon) this.#draw()
    })
  }

  /** Even while a size has not stood long enough: what comes next is not for the frame. */
  #drawNow(): void {
    if (this.#isDrawingSoon) this.#paint()
  }

  readonly #draw = (): void => {
    this.#isDrawingSoon = false
    if (!this.#gone) this.#options.output._refreshSize?.() // timers run before a signal that came meanwhile is heard
    if (this.#timer === undefined) this.#paint()
  }

  #paint(): void {
    this.#isDrawingSoon = false
    if (this.#isInFrame || this.#isHeld || this.#options.output.writableNeedDrain) return
    this.#write(this.#painter.draw(getSize(this.#options.output)))
  }

  /**
   * Nothing is drawn until the size has stood for a moment: what is written on the way from one size to the next meets
   * a terminal that is already elsewhere, and would erase what is not ours.
   */
  readonly #resized = (): void => {
    const { intervalMs = QUIET_MS } = this.#options
    const now = performance.now()
    this.#painter.resized(getSize(this.#options.output))
    if (this.#timer === undefined) this.#stormSince = now
    clearTimeout(this.#timer)
    const most = this.#stormSince + MOST_INTERVALS * intervalMs - now
    this.#timer = setTimeout(this.#settle, Math.max(0, Math.min(intervalMs, most)))
  }

  readonly #settle = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#size = getSize(this.#options.output)
    Object.assign(this.ink, this.#size)
    this.#isHeld = true
    try {
      this.#events.emit('resize', this.#size)
      this.ink.emit('resize')
    } finally {
      this.#isHeld = false
      this.#drawSoon()
    }
  }

  #noteModes(bytes: string): void {
    for (const [, mode = '', end] of bytes.matchAll(/\[(\?\d+)([hl])/g)) {
      if (end === 'h') this.#modes.add(mode)
      else this.#modes.delete(mode)
    }
    if (/\[>\d+u/.test(bytes)) this.#modes.add('kitty')
    if (/\[<\d*u/.test(bytes)) this.#modes.delete('kitty')
  }

  #write(bytes: string): void {
    if (bytes === '' || this.#gone) return
    this.#writeStats.writes++
    this.#writeStats.bytes += Buffer.byteLength(bytes)
    this.#options.output.write(bytes)
  }

  #afterWrites(done: () => void): void {
    if (this.#isDrawingSoon) this.#draw()
    if (this.#gone) setImmediate(done)
    else this.#options.output.write('', () => done())
  }

  readonly #failed = (reason?: Error): void => {
    if (this.#gone) return
    this.#gone = true
    clearTimeout(this.#timer)
    this.#options.onGone?.(reason ?? new Error('the terminal is closed'))
  }
}

function getSize({ columns, rows }: TerminalStream): Size {
  return { columns: columns || 80, rows: rows || 24 }
}

const QUIET_MS = 33
const MOST_INTERVALS = 8
