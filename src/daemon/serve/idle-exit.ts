import type { Dispatch } from '../../core/protocol/dispatch.ts'

/** The inputs that decide whether the daemon is in use. */
interface IdleOptions {
  /** The idle timeout in milliseconds; undefined means that the daemon never exits. */
  idleMs: number | undefined
  /** Whether a client is connected, something is running, or a question is pending. */
  isBusy(): boolean
  now(): number
  /** Called once, after the daemon was idle for `idleMs`. */
  onIdle(): void
}

/**
 * Stops a daemon that is idle (ADR 0105). A single timer fires at most once per idle period; activity without
 * a request, such as a running turn, is noticed only when it fires, so the daemon may stop later than that.
 */
export class IdleExit implements Disposable {
  readonly #options: IdleOptions
  #timer: NodeJS.Timeout | undefined
  #usedAt: number

  constructor(options: IdleOptions) {
    this.#options = options
    this.#usedAt = options.now()
    if (options.idleMs !== undefined) this.#schedule(options.idleMs)
  }

  /** Wraps a dispatch so that each request restarts the idle period, when it begins and when it ends. */
  watched(dispatch: Dispatch): Dispatch {
    if (this.#options.idleMs === undefined) return dispatch
    const touch = () => {
      this.#usedAt = this.#options.now()
    }
    return async function* (message, signal) {
      touch()
      try {
        yield* dispatch(message, signal)
      } finally {
        touch()
      }
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms)
  }

  #check(): void {
    const { idleMs = 0, isBusy, now, onIdle } = this.#options
    if (isBusy()) this.#usedAt = now()
    const left = this.#usedAt + idleMs - now()
    if (left > 0) this.#schedule(left)
    else onIdle()
  }
}
