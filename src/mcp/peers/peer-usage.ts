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

interface RetryTimerOptions {
  /** Waits for a time in milliseconds without keeping the process alive. Rejects when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<unknown>
  /** Milliseconds since 1970. */
  now(): number
  onDue(): void
}

/** Reports when the time of a retry has come, unless it was cancelled or replaced by another time. */
export class RetryTimer {
  readonly #options: RetryTimerOptions
  #pending = new AbortController()

  constructor(options: RetryTimerOptions) {
    this.#options = options
  }

  /** Sets the time, milliseconds since 1970. */
  start(at: number): void {
    this.stop()
    const { wait, now, onDue } = this.#options
    const { signal } = this.#pending
    wait(Math.max(0, at - now()), signal).then(
      () => signal.aborted || onDue(),
      () => undefined, // cancelled
    )
  }

  stop(): void {
    this.#pending.abort()
    this.#pending = new AbortController()
  }
}

/** A reference count that reports when the last reference is disposed. */
export class RefCount {
  #count = 0
  #drained = Promise.withResolvers<void>()
  #isOver = false

  /** Resolves when the last reference is disposed; undefined when there is none, or after end(). */
  get drained(): Promise<void> | undefined {
    return this.#count > 0 && !this.#isOver ? this.#drained.promise : undefined
  }

  /** Adds a reference until it is disposed. */
  hold(): Disposable {
    if (this.#count === 0) this.#drained = Promise.withResolvers()
    this.#count++
    return {
      [Symbol.dispose]: () => {
        this.#count--
        if (this.#count === 0) this.#drained.resolve()
      },
    }
  }

  /** Resolves `drained` regardless of open references; it is undefined afterwards. */
  end(): void {
    this.#isOver = true
    this.#drained.resolve()
  }
}
