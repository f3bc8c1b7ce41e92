/** Gives every line that is typed to whoever asked for one last: a question comes before the prompt. */
export class LineQueue {
  readonly #readLine: (signal: AbortSignal) => Promise<string | undefined>
  readonly #signal: AbortSignal
  readonly #waiting: PromiseWithResolvers<string | undefined>[] = []
  #isReading = false

  /** `readLine` is called for one line at a time, and only while somebody waits. */
  constructor(readLine: (signal: AbortSignal) => Promise<string | undefined>, signal: AbortSignal) {
    this.#readLine = readLine
    this.#signal = signal
  }

  /** The next line, without its end; undefined at the end of input. */
  readonly read = async (signal: AbortSignal): Promise<string | undefined> => {
    signal.throwIfAborted()
    const waiter = Promise.withResolvers<string | undefined>()
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
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
      while (this.#waiting.length > 0) {
        const line = await this.#readLine(this.#signal)
        this.#waiting.pop()?.resolve(line)
      }
    } catch (reason) {
      for (const waiter of this.#waiting.splice(0)) waiter.reject(reason)
    } finally {
      this.#isReading = false
    }
  }
}
