/** Gives every typed line to the most recent reader, so that a question takes precedence over the prompt. */
export class LineQueue {
  readonly #readLine: (signal: AbortSignal) => Promise<string | undefined>
  readonly #signal: AbortSignal
  readonly #waiting: PromiseWithResolvers<string | undefined>[] = []
  /** Lines that arrived when there was no reader any more. */
  readonly #unread: (string | undefined)[] = []
  #isReading = false

  /** Calls `readLine` for one line at a time, and only while there is a reader. */
  constructor(readLine: (signal: AbortSignal) => Promise<string | undefined>, signal: AbortSignal) {
    this.#readLine = readLine
    this.#signal = signal
  }

  /** Returns the next line, without its line break; undefined at the end of input. */
  readonly read = async (signal: AbortSignal): Promise<string | undefined> => {
    signal.throwIfAborted()
    return this.#unread.length > 0 ? this.#unread.shift() : await this.readFresh(signal)
  }

  /** Reads like `read`, but skips lines that arrived earlier, because they were not meant for this reader. */
  readonly readFresh = async (signal: AbortSignal): Promise<string | undefined> => {
    signal.throwIfAborted()
    const waiter = Promise.withResolvers<string | undefined>()
    const leave = () => {
      const at = this.#waiting.indexOf(waiter)
      if (at >= 0) this.#waiting.splice(at, 1)
      waiter.reject(signal.reason)
    }
    this.#waiting.push(waiter)
    signal.addEventListener('abort', leave, { once: true })
    void this.#pump()
    try {
      return await waiter.promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  async #pump(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#waiting.length > 0) this.#give(await this.#readLine(this.#signal))
    } catch (reason) {
      for (const waiter of this.#waiting.splice(0)) waiter.reject(reason)
    } finally {
      this.#isReading = false
    }
  }

  #give(line: string | undefined): void {
    const waiter = this.#waiting.pop()
    if (waiter) waiter.resolve(line)
    else this.#unread.push(line)
  }
}
