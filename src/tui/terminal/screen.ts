import { EventEmitter } from 'node:events'
import type { Writable } from 'node:stream'
import { type InkCaret, type InkWrite, readInkWrite } from './ink-writes.ts'
import { type Frame, Painter } from './painter.ts'
import type { Reflow, Size } from './reflow.ts'
import { TerminalModes } from './terminal-modes.ts'
import { TextTail } from './text-tail.ts'

/** The terminal: a stream that reports its size and changes of it. */
export interface TerminalStream extends Pick<Writable, 'writableNeedDrain'> {
  readonly columns?: number
  readonly rows?: number
  write(bytes: string, done?: (error?: Error | null) => void): boolean
  /**
   * Queries the terminal and emits `resize` if its size has changed. A method of Node, which otherwise waits
   * for SIGWINCH.
   */
  _refreshSize?(): void
  on(event: 'resize' | 'drain' | 'error', listener: (reason?: Error) => void): unknown
  off(event: 'resize' | 'drain' | 'error', listener: (reason?: Error) => void): unknown
}

export interface ScreenOptions {
  output: TerminalStream
  reflow: Reflow
  /**
   * The time, in milliseconds, that a size must stay unchanged before a redraw. While it keeps changing, a
   * redraw happens after eight times that.
   */
  intervalMs?: number
  /** Called when the terminal cannot be written any more. Nothing is written afterwards. */
  onGone?(reason: Error): void
}

/** The number of writes and bytes so far. */
export interface WriteStats {
  writes: number
  bytes: number
}

/**
 * The terminal that Ink draws on.
 *
 * Ink's writes are interpreted (text for the scrollback, the frame, its caret) and drawn by a `Painter`,
 * which knows what the terminal shows. Ink's own erasing, which counts lines, and its clearing of the screen
 * never happen. Components print through `print`, not through <Static>, because Ink joins the text of <Static>
 * with the frame when it means to clear the screen.
 *
 * Ink writes a frame up to two delays after the commit that made it. A component that calls `show` with each
 * commit therefore decides what is drawn, and Ink's frames only when (ADR 0199).
 */
export class Screen implements Disposable {
  /** The stream for Ink's `stdout`, with `interactive: true` and `isScreenReaderEnabled: false`. */
  readonly ink: NodeJS.WriteStream
  readonly #options: ScreenOptions
  readonly #painter: Painter
  readonly #events = new EventEmitter()
  readonly #modes = new TerminalModes()
  readonly #writeStats: WriteStats = { writes: 0, bytes: 0 }
  #size: Size
  /** The texts printed last, which are shown again on the alternate screen. */
  readonly #recent = new TextTail(MAX_RECENT_CHARS)
  /** The texts printed on the alternate screen, which is undefined while it is not shown. */
  #alternate: TextTail | undefined
  #texts: { text: string; caret: InkCaret | undefined }[] = []
  /** The frame of the last commit; undefined when only Ink knows it. */
  #committed: Frame | undefined
  /** Whether Ink has erased its frame, as it does before the terminal is lent. */
  #isErased = false
  /** The number of lines of Ink's last frame, as Ink counts them. */
  #inkLines = 0
  /** Whether the cursor was hidden for the first frame, as Ink does once before it draws. */
  #hasHidden = false
  /** Whether Ink is in the middle of a frame. */
  #isInFrame = false
  /** Whether Ink is handling a resize, possibly with several frames. */
  #isHeld = false
  #timer: NodeJS.Timeout | undefined
  #stormSince = 0
  /** Whether the frame of the commit that lays out for the new size is still to come. */
  #isLayoutDue = false
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

  /** The size that resize listeners were last notified of. */
  get size(): Size {
    return this.#size
  }

  get writeStats(): WriteStats {
    return { ...this.#writeStats }
  }

  /** Whether no redraw after a resize is pending. */
  get isQuiet(): boolean {
    return this.#timer === undefined
  }

  /**
   * Calls back with the new size before Ink lays out again. Resizes are debounced: a continuous series calls
   * back once per eight intervals.
   */
  onResize(listener: (size: Size) => void): Disposable {
    this.#events.on('resize', listener)
    return { [Symbol.dispose]: () => void this.#events.off('resize', listener) }
  }

  /**
   * Returns the bytes that undo the current modes and put the cursor below the frame, for a guard that writes
   * them synchronously. Nothing is written afterwards: an ending process may still run for a moment.
   */
  restoring(): string {
    this.#gone = true
    const hasMore = this.#painter.hasPrinted && !this.#alternate
    const waiting = hasMore ? this.#painter.draw(getSize(this.#options.output)) : ''
    const end = this.#alternate ? LEAVE_ALTERNATE + this.#alternate.text : this.#painter.leave()
    return `\u001b[?2026l${waiting}${end}${this.#modes.restoring()}`
  }

  /**
   * Writes bytes of a component that draws while the terminal is lent. Modes they set are undone at the end,
   * too.
   */
  write(bytes: string): void {
    this.#drawNow()
    this.#modes.note(bytes)
    this.#write(bytes)
  }

  /**
   * Writes bytes that change the terminal beyond the frame, with the bytes that undo them when the chat ends in
   * any way. The same key replaces what it has set before; `undo` is empty when nothing is left to undo.
   */
  set(key: string, bytes: string, undo: string): void {
    this.#modes.setUndo(key, undo)
    this.#write(bytes)
  }

  /** Forgets the position of the frame, because another program has written to the terminal. */
  forget(): void {
    this.#painter.forget()
  }

  /**
   * Sets the frame of a commit, in lines no wider than the terminal. It is drawn with what is printed next,
   * when Ink writes its own frame of the commit, or at once after a resize.
   */
  show(frame: Frame): void {
    this.#committed = frame
    if (!this.#isErased) this.#setFrame(frame)
    if (this.#isLayoutDue) this.#laidOut()
  }

  /** Prints text above the frame of the last commit, and draws both in one write. */
  print(text: string): void {
    this.#print(text)
    this.#drawSoon()
  }

  /** Draws a frame immediately, before Ink draws anything. */
  drawFirst(frame: Frame): void {
    this.#setFrame(frame)
    this.#hasHidden = true
    this.#write(HIDE_CURSOR + this.#painter.draw(getSize(this.#options.output)))
  }

  /**
   * Shows the alternate screen, with the last printed lines, or goes back to the main screen, which then gets
   * what was printed meanwhile.
   */
  setFullscreen(isOn: boolean): void {
    if (isOn === (this.#alternate !== undefined) || this.#gone) return
    this.#drawNow()
    if (isOn) {
      this.#write(this.#painter.erase() + ENTER_ALTERNATE)
      this.#alternate = new TextTail(MAX_ALTERNATE_CHARS)
      this.#printRecent()
    } else {
      const printed = this.#alternate?.text ?? ''
      this.#alternate = undefined
      this.#write(LEAVE_ALTERNATE)
      this.#painter.forget()
      if (printed !== '') this.#painter.print(printed)
    }
    this.#drawSoon()
  }

  /** Redraws the frame at the cursor. */
  redraw(): void {
    this.forget()
    this.#draw()
  }

  [Symbol.dispose](): void {
    const { output } = this.#options
    clearTimeout(this.#timer)
    output.off('resize', this.#resized)
    output.off('drain', this.#draw)
    this.setFullscreen(false)
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
    if (this.#hasHidden && data === HIDE_CURSOR)
      this.#hasHidden = false // it would make the caret flicker
    else if (write.type === 'mode')
      this.write(write.bytes) // the terminal may be lent after a change of modes
    else if (write.type === 'begin') this.#isInFrame = true
    else if (write.type === 'end') this.#isInFrame = false
    else if (write.type === 'text') this.#texts.push(write)
    else if (write.type === 'erase') this.#isErased = true
    else this.#place(write.caret)
    if (!this.#isInFrame) this.#commit()
  }

  #print(text: string): void {
    this.#painter.print(text)
    this.#recent.add(text)
    this.#alternate?.add(text)
  }

  /** Prints the last lines again, at the top of the alternate screen. */
  #printRecent(): void {
    this.#painter.forget()
    const lines = this.#recent.text.split('\n').slice(-1 - this.#size.rows)
    if (lines.some((line) => line !== '')) this.#painter.print(lines.join('\n'))
  }

  #setFrame({ lines, caret }: Frame): void {
    this.#painter.frame(lines)
    this.#painter.place(caret)
  }

  #place(caret: InkCaret | undefined): void {
    const last = this.#texts.at(-1)
    if (last) last.caret = caret
    else if (!this.#committed) this.#painter.place(this.#toCaret(caret))
  }

  #toCaret(caret: InkCaret | undefined): { x: number; y: number } | undefined {
    return caret && { x: caret.x, y: this.#inkLines - 1 - caret.up }
  }

  /** Applies the collected texts: the last one is the frame, those before it go to the scrollback. */
  #commit(): void {
    const frame = this.#texts.pop()
    for (const { text } of this.#texts.splice(0)) this.#print(text)
    if (frame) this.#isErased = false
    else if (this.#isErased) this.#painter.frame([])
    if (frame) this.#setFrame(this.#committed ?? this.#toFrame(frame))
    this.#drawSoon()
  }

  #toFrame({ text, caret }: { text: string; caret: InkCaret | undefined }): Frame {
    const lines = text.split('\n')
    this.#inkLines = lines.length
    return { lines: lines.at(-1) === '' ? lines.slice(0, -1) : lines, caret: this.#toCaret(caret) }
  }

  /**
   * Schedules a draw that combines all writes of one tick: a frame, and text that moves from it to the
   * scrollback.
   */
  #drawSoon(): void {
    if (this.#isDrawingSoon) return
    this.#isDrawingSoon = true
    queueMicrotask(() => {
      if (this.#isDrawingSoon) this.#draw()
    })
  }

  /** Draws even while a resize is settling, because the next write does not belong to the frame. */
  #drawNow(): void {
    if (this.#isDrawingSoon) this.#paint()
  }

  readonly #draw = (): void => {
    this.#isDrawingSoon = false
    if (!this.#gone) this.#options.output._refreshSize?.() // timers run before a pending SIGWINCH is handled
    if (this.#timer === undefined) this.#paint()
  }

  #paint(): void {
    this.#isDrawingSoon = false
    if (this.#isInFrame || this.#isHeld || this.#options.output.writableNeedDrain) return
    this.#write(this.#painter.draw(getSize(this.#options.output)))
  }

  /**
   * Delays drawing until the size has been stable for a moment: bytes written during a resize reach a
   * terminal whose content has already moved, and would erase content above the frame.
   */
  readonly #resized = (): void => {
    const { intervalMs = QUIET_MS } = this.#options
    const now = performance.now()
    this.#painter.resized(getSize(this.#options.output))
    if (this.#timer === undefined || this.#isLayoutDue) this.#stormSince = now
    this.#isLayoutDue = false
    clearTimeout(this.#timer)
    const most = this.#stormSince + MAX_INTERVALS * intervalMs - now
    this.#timer = setTimeout(this.#settle, Math.max(0, Math.min(intervalMs, most)))
  }

  /** Lays out for the new size; drawn with that commit, because a next resize could meet a second frame. */
  readonly #settle = (): void => {
    this.#isLayoutDue = this.#committed !== undefined && !this.#isErased
    this.#timer = this.#isLayoutDue ? setTimeout(this.#laidOut, LAYOUT_MS) : undefined
    this.#size = getSize(this.#options.output)
    Object.assign(this.ink, this.#size)
    if (this.#alternate) {
      this.#write(ERASE_ALTERNATE)
      this.#printRecent()
    }
    this.#isHeld = true
    try {
      this.#events.emit('resize', this.#size)
      this.ink.emit('resize')
    } finally {
      this.#isHeld = false
      if (!this.#isLayoutDue) this.#drawSoon()
    }
  }

  readonly #laidOut = (): void => {
    this.#isLayoutDue = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#drawSoon()
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

/** The alternate screen starts empty, with the cursor at its top (xterm, 1049). */
const ENTER_ALTERNATE = '\u001b[?1049h\u001b[H'
const LEAVE_ALTERNATE = '\u001b[?1049l\r'
const ERASE_ALTERNATE = '\u001b[H\u001b[J'
const MAX_RECENT_CHARS = 64 * 1024
/** The limit of the text that the main screen gets after the alternate one. */
const MAX_ALTERNATE_CHARS = 4 * 1024 * 1024
const HIDE_CURSOR = '\u001b[?25l'
const QUIET_MS = 33
const MAX_INTERVALS = 8
/** The time after which a resize that no component reacts to is drawn anyway. */
const LAYOUT_MS = 100
