/**
 * Reads a server's list again after it said that it changed: a little later, so that many words are one, and never
 * twice at once. A server that says so for nothing, after each reading perhaps, is heard less and less often.
 */
export class ListRefresh {
  readonly #read: () => Promise<boolean>
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #saidMeanwhile = false
  #inVain = 0
  #isOver = false

  /** `read` tells whether anything was different; it never rejects. */
  constructor(read: () => Promise<boolean>) {
    this.#read = read
  }

  /** The server says that its list changed. */
  notify(): void {
    if (this.#isReading) this.#saidMeanwhile = true
    else this.#readLater()
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  #readLater(): void {
    if (this.#isOver || this.#timer) return
    const delayMs = Math.min(DEBOUNCE_MS * 4 ** this.#inVain, MAX_DELAY_MS)
    this.#timer = setTimeout(() => void this.#readNow(), delayMs)
    this.#timer.unref()
  }

  async #readNow(): Promise<void> {
    this.#timer = undefined
    this.#isReading = true
    this.#inVain = (await this.#read()) ? 0 : this.#inVain + 1
    this.#isReading = false
    if (this.#saidMeanwhile) this.#readLater()
    this.#saidMeanwhile = false
  }
}

const DEBOUNCE_MS = 300
const MAX_DELAY_MS = 60_000
