interface IdleTimerOptions {
  /** How long nobody needs to use it, milliseconds; undefined is for ever. */
  limitMs(): number | undefined
  onIdle(): void
}

/** Notices when nobody has used something for a while. Keeps no process alive. */
export class IdleTimer {
  readonly #options: IdleTimerOptions
  #timer: NodeJS.Timeout | undefined
  #users = 0

  constructor(options: IdleTimerOptions) {
    this.#options = options
  }

  /** It is there and not used yet. */
  start(): void {
    this.stop()
    const limitMs = this.#options.limitMs()
    if (limitMs === undefined || this.#users > 0) return
    this.#timer = setTimeout(() => this.#options.onIdle(), limitMs)
    this.#timer.unref()
  }

  /** Somebody uses it, until they dispose. */
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

  /** It is not there any more. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}
