import { toCrabError } from '../../core/base/errors.ts'
import { Serial } from '../../core/base/serial.ts'
import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { Block } from '../view/blocks.ts'
import type { RenderContext } from '../view/view.ts'
import { Document, stripColors } from './document.ts'
import { splitKeys } from './keys.ts'
import {
  getSearchDirection,
  newPager,
  type PagerState,
  pressPager,
  renderPager,
  searchNext,
} from './pager.ts'

/** The keyboard in the state in which Ink leaves it while the terminal is lent. */
export interface PagerInput {
  setRawMode(isRaw: boolean): unknown
  ref(): unknown
  unref(): unknown
  setEncoding(encoding: 'utf8'): unknown
  read(): string | Buffer | null
  on(event: 'readable', listener: () => void): unknown
  off(event: 'readable', listener: () => void): unknown
}

/** The output side of the terminal, implemented by a `Screen`. */
export interface PagerOutput {
  write(bytes: string): void
  size(): { columns: number; rows: number }
  onResize(listener: () => void): Disposable
}

export interface PagerOptions {
  dispatch: Dispatch
  /** The id of the conversation to show. */
  session?: string
  /** The blocks to show instead. */
  blocks?: readonly Block[]
  title: string
  look: Omit<RenderContext, 'columns' | 'rows' | 'details'>
  input: PagerInput
  output: PagerOutput
  /** Opens a text in the user's editor, which has the terminal meanwhile. */
  editText(text: string): Promise<unknown>
}

/**
 * Shows a whole conversation on the alternate screen, starting at its end, until the user closes it. Earlier
 * messages are loaded in the background, and only visible lines are rendered. Throws the error of the request
 * for the last messages. Blocks are shown from their start.
 */
export async function openPager(options: PagerOptions, signal: AbortSignal): Promise<void> {
  const shutdown = new AbortController()
  const pages = await loadEnd(options, signal)
  const pager = new Pager(options, pages, AbortSignal.any([signal, shutdown.signal]))
  try {
    await pager.run()
  } finally {
    shutdown.abort()
  }
}

/** The number of messages per request; the last ones are loaded first. */
const PAGE = 200

interface Pages {
  messages: readonly SessionMessage[]
  /** The number of messages before them. */
  before: number
}

async function loadEnd({ dispatch, session }: PagerOptions, signal: AbortSignal): Promise<Pages> {
  if (session === undefined) return { messages: [], before: 0 }
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  return loadPage({ dispatch, session }, total, signal)
}

/** Loads the page before a message, in several requests when a reply is shorter than asked for. */
async function loadPage(
  { dispatch, session }: { dispatch: Dispatch; session: string },
  end: number,
  signal: AbortSignal,
): Promise<Pages> {
  const before = Math.max(0, end - PAGE)
  const messages: SessionMessage[] = []
  while (before + messages.length < end) {
    const offset = before + messages.length
    const page = await request(dispatch, 'listMessages', { session, offset, limit: end - offset }, signal)
    if (page.messages.length === 0) break
    messages.push(...page.messages)
  }
  return { messages, before }
}

class Pager {
  readonly #options: PagerOptions
  readonly #signal: AbortSignal
  readonly #document: Document
  readonly #closed = Promise.withResolvers<void>()
  readonly #whole: Promise<void>
  #state: PagerState
  #before: number
  /** Whether the pager has the terminal. */
  #isOpen = false
  /** Whether the pager has ended; an open editor does not bring it back. */
  #isClosed = false
  /** The rows on the screen. */
  #shown: readonly string[] = []
  /** Settles when the requests of earlier keys are done; later keys wait for it. */
  readonly #keys = new Serial()

  constructor(options: PagerOptions, { messages, before }: Pages, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#before = before
    this.#document = new Document(this.#view())
    const { blocks, output } = options
    this.#document.prepend(messages)
    if (blocks) this.#document.setBlocks(blocks)
    const pager = newPager(this.#document, output.size().rows)
    this.#state = blocks ? { ...pager, top: this.#document.start() } : pager
    this.#whole = this.#loadAll()
  }

  async run(): Promise<void> {
    const { output } = this.#options
    this.#signal.addEventListener('abort', () => this.#closed.resolve(), { once: true })
    using _resizes = output.onResize(() => this.#resized())
    this.#enter()
    try {
      await this.#closed.promise
    } finally {
      this.#isClosed = true
      this.#leave()
    }
  }

  #enter(): void {
    if (this.#isClosed) return
    const { input, output } = this.#options
    output.write(`${ESC}[?1049h`)
    output.write(`${ESC}[?25l`)
    input.setEncoding('utf8')
    input.ref()
    input.setRawMode(true)
    input.on('readable', this.#readable)
    this.#isOpen = true
    this.#shown = []
    this.#draw()
  }

  #leave(): void {
    if (!this.#isOpen) return
    const { input, output } = this.#options
    this.#isOpen = false
    input.off('readable', this.#readable)
    input.setRawMode(false)
    input.unref()
    output.write(`${ESC}[?1049l`)
    output.write(`${ESC}[?25h`)
  }

  readonly #readable = (): void => {
    let typed = ''
    for (let piece = this.#options.input.read(); piece !== null; piece = this.#options.input.read()) {
      typed += piece.toString()
    }
    this.#keys.run(() => this.#take(typed)).catch(() => undefined) // already shown as a note, or cannot be drawn
  }

  /** Handles typed keys. A failure is shown as a note and drops the keys of the same read, but not later ones. */
  async #take(typed: string): Promise<void> {
    try {
      for (const key of splitKeys(typed)) await this.#press(key)
      this.#draw()
    } catch (reason) {
      this.#state = { ...this.#state, note: toCrabError(reason).message }
      this.#shown = []
      this.#draw()
    }
  }

  async #press(key: string): Promise<void> {
    const room = { document: this.#document, rows: this.#options.output.size().rows }
    const { state, command } = pressPager(this.#state, key, room)
    this.#state = state
    if (command === 'close') this.#closed.resolve()
    if (command === 'redraw') this.#shown = []
    if (command === 'edit') await this.#edit()
    if (command === 'home' || command === 'search') await this.#loaded()
    if (command === 'home') this.#state = { ...this.#state, top: this.#document.start() }
    if (command === 'search') this.#state = searchNext(this.#state, getSearchDirection(key), room)
  }

  async #loaded(): Promise<void> {
    if (this.#before > 0) this.#draw()
    await this.#whole
  }

  /** Loads all earlier messages. A failure is shown once as a note, and the loaded messages stay. */
  async #loadAll(): Promise<void> {
    try {
      while (this.#before > 0) {
        const { dispatch, session = '' } = this.#options
        const { messages, before } = await loadPage({ dispatch, session }, this.#before, this.#signal)
        this.#document.prepend(messages)
        this.#before = before
      }
      this.#draw()
    } catch (reason) {
      this.#before = 0
      this.#state = { ...this.#state, note: toCrabError(reason).message }
    }
  }

  async #edit(): Promise<void> {
    await this.#loaded()
    const { blocks } = this.#document
    const lines = Array.from({ length: blocks }, (_, at) => this.#document.getLines(blocks - 1 - at))
    this.#leave()
    try {
      await this.#options.editText(`${lines.flat().map(stripColors).join('\n').trim()}\n`)
    } catch (reason) {
      this.#state = { ...this.#state, note: toCrabError(reason).message }
    } finally {
      this.#enter()
    }
  }

  #resized(): void {
    this.#document.setView(this.#view())
    this.#shown = []
    this.#draw()
  }

  #view(): RenderContext {
    return { ...this.#options.look, ...this.#options.output.size(), details: true, isWhole: true }
  }

  #draw(): void {
    if (!this.#isOpen) return
    const { output, title } = this.#options
    const { rows } = output.size()
    const isWhole = this.#before === 0
    const next = renderPager(this.#state, { document: this.#document, rows, title, isWhole })
    const isNew = this.#shown.length !== next.length
    const changed = next.flatMap((row, at) =>
      isNew || row !== this.#shown[at] ? [`${ESC}[${at + 1};1H${ESC}[2K${row}`] : [],
    )
    this.#shown = next
    if (changed.length > 0) output.write(`${ESC}[?2026h${changed.join('')}${ESC}[?2026l`)
  }
}

const ESC = '\u001b'
