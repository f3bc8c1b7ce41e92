import type { ChatAction } from './actions.ts'
import { reduce } from './reduce.ts'
import type { ChatState } from './types.ts'

/** Longest time, milliseconds, that streamed text waits to be shown: at most 20 frames a second come from it. */
const FRAME_MS = 50

/**
 * Holds the state and tells who shows it. Streamed events are told together, at most 20 times a second; everything
 * else at once, so that a key is seen without delay. Nothing ticks while nothing happens.
 */
export class ChatStore implements Disposable {
  #state: ChatState
  readonly #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(state: ChatState) {
    this.#state = state
  }

  /** As React's useSyncExternalStore wants them: bound, and the same for ever. */
  readonly get = (): ChatState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly act = (action: ChatAction): void => {
    const before = this.#state
    this.#state = reduce(before, action)
    if (this.#state === before) return
    if (action.type !== 'stream') this.#tell()
    else this.#timer ??= setTimeout(() => this.#tell(), FRAME_MS)
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#listeners.clear()
  }

  #tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#state = reduce(this.#state, { type: 'flush' })
    for (const listener of this.#listeners) listener()
  }
}
