import type { ChatAction } from './actions.ts'
import { reduce } from './reduce.ts'
import type { ChatState } from './types.ts'

/**
 * The longest time, in milliseconds, that streamed text waits to be shown: it causes at most 20 frames a
 * second.
 */
const FRAME_MS = 50

/**
 * Holds the state and notifies its listeners. Streamed events are batched, at most 20 notifications a second;
 * every other action notifies immediately, so that keys are echoed without delay. No timer runs while nothing
 * happens.
 */
export class ChatStore implements Disposable {
  #state: ChatState
  #shown: ChatState
  readonly #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(state: ChatState) {
    this.#state = state
    this.#shown = state
  }

  readonly get = (): ChatState => this.#state

  /**
   * The state that listeners were last notified of. Drawing the current one instead would render, again and
   * again, streamed text whose finished blocks are not split off yet. Bound and stable, as React's
   * `useSyncExternalStore` requires.
   */
  readonly getShown = (): ChatState => this.#shown

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly act = (action: ChatAction): void => {
    const before = this.#state
    this.#state = reduce(before, action)
    if (this.#state === before) return
    if (action.type !== 'stream') this.#notify()
    else this.#timer ??= setTimeout(() => this.#notify(), FRAME_MS)
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#listeners.clear()
  }

  #notify(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#state = reduce(this.#state, { type: 'flush' })
    this.#shown = this.#state
    for (const listener of this.#listeners) listener()
  }
}
