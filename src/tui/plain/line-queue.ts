/** Gives every line that is typed to whoever asked for one last: a question comes before the prompt. */
export class LineQueue {
  readonly #readLine: (signal: AbortSignal) => Promise<string | undefined>
  readonly #signal: AbortSignal
  readonly #waiting: PromiseWithResolvers<string | undefined>[] = []
  /** Lines that came when nobody waited any more. */
  readonly #unread: (string | undefined)[] = []
  #isReading = false

  /** `readLine` is called for one line at a time, and only while somebody waits. */
  constructor(readLine: (signal: AbortSignal) => Promise<string | undefined>, signal: AbortSignal) {
    this.#readLine = readLine
    this.#signal = signal
  }

  /** The next line, without its end; undefined at the end of input. */
  readonly read = async (signal: AbortSignal): Promise<string | undefined> => {
    signal.throwIfAborted()
    return this.#unread.length > 0 ? this.#unread.shift() : await this.readFresh(signal)
  }

  /** As read(), but no line that came before: it was not meant for who asks now. */
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
