/** How a server did lately. Times are milliseconds since 1970. */
export class CallRecord {
  readonly #now: () => number
  #latencies: number[] = []
  calls = 0
  /** How often it was connected. */
  starts = 0
  /** Calls that brought no answer. */
  errors = 0
  lastOkAt: number | undefined
  lastErrorAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Follows a call; one that was cancelled counts as a call only. */
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

  /** Median of the last calls that were answered, milliseconds. */
  get latencyMs(): number | undefined {
    return this.#latencies.toSorted((a, b) => a - b)[this.#latencies.length >> 1]
  }
}

const MAX_LATENCIES = 32
