interface ListRefreshOptions {
  /** Reads the list and reports whether it changed; never rejects. */
  read(): Promise<boolean>
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Decides when to read a server's list again. One reading follows two seconds after the first, because some
 * servers answer before they have all their tools and never announce the rest. A change notification leads to
 * a debounced reading; readings never overlap. For a server whose notifications repeatedly announce nothing
 * new, the delay grows fourfold each time, up to a minute, until the server was quiet for that long.
 */
export class ListRefresh {
  readonly #options: ListRefreshOptions
  #timer: NodeJS.Timeout | undefined
  /** The timer of the second reading. */
  #settling: NodeJS.Timeout | undefined
  /** True from the start until the first list is read: notifications until then add up to one reading. */
  #isReading = true
  #changedMeanwhile = false
  #unchangedReads = 0
  #lastNotifiedAt = 0
  #isOver = false

  constructor(options: ListRefreshOptions) {
    this.#options = options
  }

  /** Handles the server's notification that its list changed. */
  notify(): void {
    const now = this.#options.now()
    if (now - this.#lastNotifiedAt > this.#delayMs) this.#unchangedReads = 0
    this.#lastNotifiedAt = now
    if (this.#isReading) this.#changedMeanwhile = true
    else this.#readLater()
  }

  /** Starts refreshing, once the first list is read. */
  begin(): void {
    this.#settling = setTimeout(() => void this.#readSettled(), SETTLE_MS)
    this.#settling.unref()
    this.#readingEnded()
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#settling)
    clearTimeout(this.#timer)
  }

  get #delayMs(): number {
    return Math.min(DEBOUNCE_MS * 4 ** this.#unchangedReads, MAX_DELAY_MS)
  }

  #readLater(): void {
    if (this.#isOver || this.#timer) return
    this.#timer = setTimeout(() => void this.#readNow(), this.#delayMs)
    this.#timer.unref()
  }

  /** Reads the list without counting it as unchanged, since no notification asked for it. */
  async #readSettled(): Promise<void> {
    if (this.#isOver || this.#isReading || this.#timer) return
    this.#isReading = true
    await this.#options.read()
    this.#readingEnded()
  }

  async #readNow(): Promise<void> {
    clearTimeout(this.#settling)
    this.#timer = undefined
    this.#isReading = true
    this.#unchangedReads = (await this.#options.read()) ? 0 : this.#unchangedReads + 1
    this.#lastNotifiedAt = this.#options.now()
    this.#readingEnded()
  }

  #readingEnded(): void {
    this.#isReading = false
    if (this.#changedMeanwhile) this.#readLater()
    this.#changedMeanwhile = false
  }
}

const DEBOUNCE_MS = 300
const SETTLE_MS = 2_000
const MAX_DELAY_MS = 60_000
