/** The recent calls of one server. Times are milliseconds since 1970. */
export class CallRecord {
  readonly #now: () => number
  #latencies: number[] = []
  calls = 0
  /** The number of times it was connected. */
  starts = 0
  /** The number of failed calls. */
  errors = 0
  lastOkAt: number | undefined
  lastErrorAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records a call; a cancelled one only increments `calls`. */
  async follow<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const began = this.#now()
    this.calls++
    try {
      const answer = await call()
      this.lastOkAt = this.#now()
      this.#latencies = [...this.#latencies.slice(1 - MAX_LATENCIES), this.lastOkAt - began]
      return answer
    } catch (reason) {
      if (!signal.aborted) this.fail()
      throw reason
    }
  }

  fail(): void {
    this.errors++
    this.lastErrorAt = this.#now()
  }

  /** The median of the last 32 successful calls, milliseconds. */
  get latencyMs(): number | undefined {
    return this.#latencies.toSorted((a, b) => a - b)[this.#latencies.length >> 1]
  }
}

const MAX_LATENCIES = 32
