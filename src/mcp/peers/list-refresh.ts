interface ListRefreshOptions {
  /** Tells whether anything was different; never rejects. */
  read(): Promise<boolean>
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Reads a server's list again a while after the first time, as some servers are ready to be asked before they have all
 * their tools and never say that they got more; and after it said that it changed: a little later, so that many words are one, and never
 * twice at once. A server that says so for nothing, after each reading perhaps, is heard less and less often, until it
 * was quiet for as long as it would have to wait.
 */
export class ListRefresh {
  readonly #options: ListRefreshOptions
  #timer: NodeJS.Timeout | undefined
  /** Until it is read for the second time. */
  #settling: NodeJS.Timeout | undefined
  /** Until somebody has the first list, whatever comes is one word more. */
  #isReading = true
  #saidMeanwhile = false
  #inVain = 0
  #quietSince = 0
  #isOver = false

  constructor(options: ListRefreshOptions) {
    this.#options = options
  }

  /** The server says that its list changed. */
  notify(): void {
    const now = this.#options.now()
    if (now - this.#quietSince > this.#delayMs) this.#inVain = 0
    this.#quietSince = now
    if (this.#isReading) this.#saidMeanwhile = true
    else this.#readLater()
  }

  /** The first list is there, and the server can be asked again. */
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
    return Math.min(DEBOUNCE_MS * 4 ** this.#inVain, MAX_DELAY_MS)
  }

  #readLater(): void {
    if (this.#isOver || this.#timer) return
    this.#timer = setTimeout(() => void this.#readNow(), this.#delayMs)
    this.#timer.unref()
  }

  /** Nothing was said, so nothing was said in vain. */
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
    this.#inVain = (await this.#options.read()) ? 0 : this.#inVain + 1
    this.#quietSince = this.#options.now()
    this.#readingEnded()
  }

  #readingEnded(): void {
    this.#isReading = false
    if (this.#saidMeanwhile) this.#readLater()
    this.#saidMeanwhile = false
  }
}

const DEBOUNCE_MS = 300
const SETTLE_MS = 2_000
const MAX_DELAY_MS = 60_000
