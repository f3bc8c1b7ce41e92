import { armCard } from '../cards/card.ts'
import type { ChatStore } from '../store.ts'

/** How long, milliseconds, a question must have stood there untouched before keys answer it. */
const QUIET_MS = 400

/** Keeps a question that comes up under somebody's typing from being answered by it. */
export class Arming {
  readonly #store: ChatStore
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(store: ChatStore, signal: AbortSignal) {
    this.#store = store
    const stop = store.subscribe(() => this.#look())
    signal.addEventListener('abort', () => {
      stop()
      clearTimeout(this.#timer)
    })
  }

  /** A key was pressed: the time begins anew. */
  restart(): void {
    this.#stop()
    this.#look()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const { asks, overlay } = this.#store.get()
    const isOpen = asks[0] !== undefined && !asks[0].isArmed && overlay === undefined // that would hide it
    if (!isOpen) this.#stop()
    else this.#timer ??= setTimeout(() => this.#arm(), QUIET_MS)
  }

  #arm(): void {
    this.#timer = undefined
    const card = this.#store.get().asks[0]
    if (card && !card.isArmed) this.#store.act({ type: 'ask-card', card: armCard(card) })
  }
}
