/**
 * Runs asynchronous work one after another, in the order of the calls. It does not lock out other processes, and
 * work must not wait for later work of the same queue.
 */
export class Serial {
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0

  /** Whether no work is running or queued. */
  get isIdle(): boolean {
    return this.#pending === 0
  }

  /**
   * Runs `work` when all earlier work has settled, and never before this call returns. A failure goes to this
   * caller only; later work runs anyway.
   */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#pending += 1
    const result = this.#last.then(() => work())
    const done = () => {
      this.#pending -= 1
    }
    this.#last = result.then(done, done)
    return result
  }

  /** Resolves when all work queued so far has settled. Never rejects. */
  async settled(): Promise<void> {
    await this.#last
  }
}
