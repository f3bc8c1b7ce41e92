import type { ChatStore } from '../state/store.ts'
import { getShownTheme } from '../state/theme.ts'
import type { ChatState } from '../state/types.ts'
import type { TerminalReply } from '../terminal/reply-filter.ts'
import type { Screen } from '../terminal/screen.ts'
import { findAttention, toProgressState, toWindowTitle } from './attention.ts'
import {
  CURSOR_SHAPES,
  FOCUS_OFF,
  FOCUS_ON,
  type Progress,
  QUERY_BACKGROUND,
  RESET_CURSOR,
  RESTORE_TITLE,
  SAVE_TITLE,
  toNotification,
  toProgress,
  toTitleSequence,
} from './sequences.ts'
import type { TerminalKind } from './terminal-kind.ts'

export interface OutsideOptions {
  store: ChatStore
  screen: Pick<Screen, 'set'>
  kind: TerminalKind
  /** Returns the working directory with `~` for the home directory; it changes with the conversation. */
  shownCwd(): string
  color: boolean
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number
}

/**
 * Shows the state of the chat outside of its text: in the title of the window, as progress, and as a
 * notification while the window is not focused. Disposing undoes everything.
 */
export class Outside implements Disposable {
  readonly #options: OutsideOptions
  readonly #stop: () => void
  /** The state that was seen last. */
  #seen: ChatState
  /** The sequences that the terminal was set to, by name. */
  readonly #set = new Map<'title' | 'progress' | 'cursor' | 'focus', string>()
  /** Undefined until the terminal reports it. */
  #isFocused: boolean | undefined
  #lastKeyAt: number
  #hasFailed = false
  #repeating: NodeJS.Timeout | undefined
  #queriedAt: number | undefined
  readonly #answered = Promise.withResolvers<void>()

  constructor(options: OutsideOptions) {
    this.#options = options
    const { store, kind, elapsed } = options
    this.#seen = store.getShown()
    this.#lastKeyAt = elapsed()
    const { depth, isLight } = kind
    store.act({ type: 'set', change: { terminalColors: { depth, isLight } } })
    this.#stop = store.subscribe(() => this.#update())
    this.#update()
  }

  /** Handles a report of the terminal. */
  receive(reply: TerminalReply): void {
    if (reply.type === 'focus') {
      this.#isFocused = reply.isFocused
      if (reply.isFocused) this.touched()
      return
    }
    if (this.#queriedAt === undefined) return
    this.#answered.resolve()
    const { store, kind } = this.#options
    const { depth } = kind
    const [red, green, blue] = reply.color
    const { background } = store.get().terminalColors
    if (background?.join() === reply.color.join()) return
    store.act({ type: 'set', change: { terminalColors: { depth, background: [red, green, blue] } } })
  }

  /** Records that a key was pressed: the user is here, and has seen that a turn failed. */
  touched(): void {
    this.#lastKeyAt = this.#options.elapsed()
    if (!this.#hasFailed) return
    this.#hasFailed = false
    this.#update()
  }

  /** Waits a moment for an answer of the terminal that would otherwise reach the shell. */
  async settle(): Promise<void> {
    if (this.#queriedAt === undefined) return
    const left = this.#queriedAt + ANSWER_MS - this.#options.elapsed()
    if (left <= 0) return
    const timer = setTimeout(this.#answered.resolve, left)
    await this.#answered.promise
    clearTimeout(timer)
  }

  [Symbol.dispose](): void {
    this.#stop()
    clearInterval(this.#repeating)
    this.#undoAll()
  }

  #update(): void {
    const { store, now } = this.#options
    const before = this.#seen
    const state = store.getShown()
    this.#seen = state
    const attention = findAttention(before, state, now())
    if (attention) this.#notify(attention.text)
    if (attention?.kind === 'failed') this.#hasFailed = this.#isAway
    if (state.turn) this.#hasFailed = false
    if (state.isLent) this.#undoAll()
    else if (this.#options.kind.hasControls) this.#apply(state)
  }

  /** Writes what differs from the state that the terminal was set to. */
  #apply(state: ChatState): void {
    const { kind, shownCwd, color } = this.#options
    const { windowTitle, progress, notify } = state.settings
    this.#change('title', windowTitle ? toTitleSequence(toWindowTitle(state, shownCwd())) : undefined)
    const hasProgress = progress && kind.hasProgress
    this.#showProgress(hasProgress ? toProgressState(state, this.#hasFailed) : 'none')
    const { vim } = state.prompt
    this.#change('cursor', vim && CURSOR_SHAPES[vim.mode === 'normal' ? 'block' : 'bar'])
    this.#change('focus', notify === 'off' ? undefined : FOCUS_ON)
    const theme = getShownTheme(state)
    if (color && this.#queriedAt === undefined && (theme === 'auto' || theme === 'high-contrast'))
      this.#query()
  }

  #query(): void {
    this.#queriedAt = this.#options.elapsed()
    this.#options.screen.set('background', QUERY_BACKGROUND, '')
  }

  #showProgress(progress: Progress): void {
    const isBusy = progress === 'busy'
    this.#change('progress', progress === 'none' ? undefined : toProgress(progress))
    if (isBusy === (this.#repeating !== undefined)) return
    clearInterval(this.#repeating)
    // Some terminals clear progress that is not repeated.
    const repeat = () => this.#options.screen.set('progress', toProgress('busy'), UNDO.progress)
    this.#repeating = isBusy ? setInterval(repeat, REPEAT_MS) : undefined
  }

  #change(name: keyof typeof UNDO, bytes: string | undefined): void {
    const { screen } = this.#options
    const before = this.#set.get(name)
    if (bytes === before) return
    if (bytes === undefined) {
      screen.set(name, UNDO[name], '')
      this.#set.delete(name)
      return
    }
    const lead = name === 'title' && before === undefined ? SAVE_TITLE : ''
    screen.set(name, lead + bytes, UNDO[name])
    this.#set.set(name, bytes)
  }

  #undoAll(): void {
    this.#showProgress('none')
    for (const name of [...this.#set.keys()]) this.#change(name, undefined)
  }

  /** Whether the user is presumably not looking at the window. */
  get #isAway(): boolean {
    if (this.#isFocused !== undefined) return !this.#isFocused
    return this.#options.elapsed() - this.#lastKeyAt > UNKNOWN_FOCUS_MS
  }

  #notify(text: string): void {
    const { kind, store, screen } = this.#options
    const { notify } = store.get().settings
    if (notify === 'off' || !this.#isAway) return
    const way = notify === 'auto' ? kind.notify : notify
    screen.set('notification', toNotification(text, way, kind.isTmux), '')
  }
}

/** The sequences that undo each setting. */
const UNDO = {
  title: RESTORE_TITLE,
  progress: toProgress('none'),
  cursor: RESET_CURSOR,
  focus: FOCUS_OFF,
} as const

/** The time without a key after which the user counts as away, in a terminal that does not report the focus. */
const UNKNOWN_FOCUS_MS = 10_000
/** The time that an answer of the terminal may take. */
const ANSWER_MS = 100
const REPEAT_MS = 5_000
