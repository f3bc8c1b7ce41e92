interface IdleTimerOptions {
  /** The idle time in milliseconds; undefined for no limit. */
  limitMs(): number | undefined
  onIdle(): void
}

/** Reports when something has not been used for a while. Does not keep the process alive. */
export class IdleTimer {
  readonly #options: IdleTimerOptions
  #timer: NodeJS.Timeout | undefined
  #users = 0

  constructor(options: IdleTimerOptions) {
    this.#options = options
  }

  /** Starts the timer unless something is in use. */
  start(): void {
    this.stop()
    const limitMs = this.#options.limitMs()
    if (limitMs === undefined || this.#users > 0) return
    this.#timer = setTimeout(() => this.#options.onIdle(), limitMs)
    this.#timer.unref()
  }

  /** Stops the timer until the use is disposed. */
  use(): Disposable {
    this.stop()
    this.#users++
    return {
      [Symbol.dispose]: () => {
        this.#users--
        this.start()
      },
    }
  }

  /** Stops the timer until the next start() or use(). */
  stop(): void {
    clearTimeout(this.#timer)
  }
}
