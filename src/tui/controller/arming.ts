import { hasUnarmedOverlay } from '../state/focus.ts'
import type { ChatStore } from '../state/store.ts'

/** How long, milliseconds, an overlay must have been on the screen untouched before keys are for it. */
const QUIET_MS = 400

/** Keeps an overlay that comes up under somebody's typing from taking what was typed for the composer. */
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
    if (!hasUnarmedOverlay(this.#store.get())) this.#stop()
    else if (this.#isAwaited) this.#arm()
    else this.#timer ??= setTimeout(() => this.#arm(), QUIET_MS)
  }

  #arm(): void {
    this.#stop()
    if (hasUnarmedOverlay(this.#store.get())) this.#store.act({ type: 'overlay-armed' })
  }
}
