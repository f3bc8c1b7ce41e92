import type { Dispatch } from '../../core/protocol/dispatch.ts'

/** What tells whether anybody needs the daemon. */
interface IdleOptions {
  /** Undefined: it stays. */
  idleMs: number | undefined
  /** Whether a client is there, something runs, or a question waits. */
  isBusy(): boolean
  now(): number
  /** Called once, after nobody has needed it for so long. */
  onIdle(): void
}

/**
 * Ends a daemon that nobody uses (decision 31). One timer, which fires once in that time at most; what needed the daemon
 * without a request of its own, such as a turn that goes on, is seen when it fires, so that the end may come later.
 */
export class IdleExit implements Disposable {
  readonly #options: IdleOptions
  #timer: NodeJS.Timeout | undefined
  #usedAt: number

  constructor(options: IdleOptions) {
    this.#options = options
    this.#usedAt = options.now()
    if (options.idleMs !== undefined) this.#wait(options.idleMs)
  }

  /** The dispatch, each request of which begins the time anew, when it comes and when it is over. */
  watched(dispatch: Dispatch): Dispatch {
    if (this.#options.idleMs === undefined) return dispatch
    const use = () => {
      this.#usedAt = this.#options.now()
    }
    return async function* (message, signal) {
      use()
      try {
        yield* dispatch(message, signal)
      } finally {
        use()
      }
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms)
  }

  #look(): void {
    const { idleMs = 0, isBusy, now, onIdle } = this.#options
    if (isBusy()) this.#usedAt = now()
    const left = this.#usedAt + idleMs - now()
    if (left > 0) this.#wait(left)
    else onIdle()
  }
}
