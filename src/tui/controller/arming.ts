import { unarmed } from '../state/focus.ts'
import type { ChatStore } from '../state/store.ts'

/** How long, milliseconds, something must have stood there untouched before keys are for it. */
const QUIET_MS = 400

/**
 * Keeps what comes up under somebody's typing from being answered by it. Over a draft time alone does not count: a
 * person may be thinking about the next word.
 */
export class Arming {
  readonly #store: ChatStore
  #timer: ReturnType<typeof setTimeout> | undefined
  /** No key was pressed since a command of the chat was sent: what it opens was waited for. */
  #isAwaited = false

  constructor(store: ChatStore, signal: AbortSignal) {
    this.#store = store
    const stop = store.subscribe(() => this.#look())
    signal.addEventListener('abort', () => {
      stop()
      this.#stop()
    })
  }

  /** A key was pressed: the time begins anew. */
  touched(): void {
    this.#isAwaited = false
    this.#stop()
    this.#look()
  }

  /** A command of the chat was sent. */
  commanded(): void {
    this.#isAwaited = true
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const state = this.#store.get()
    const waiting = unarmed(state)
    if (waiting === 'overlay' && this.#isAwaited) this.#arm()
    else if (waiting === undefined || (waiting === 'card' && state.prompt.text !== '')) this.#stop()
    else this.#timer ??= setTimeout(() => this.#arm(), QUIET_MS)
  }

  #arm(): void {
    this.#stop()
    if (unarmed(this.#store.get()) !== undefined) this.#store.act({ type: 'armed' })
  }
}
