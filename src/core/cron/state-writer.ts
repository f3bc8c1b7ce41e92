import { type CrabError, toCrabError } from '../base/errors.ts'

/** However often something changes, it is written at most so often. */
const PAUSE_MS = 250

/** Writes what changes often: one write at a time, and what changed meanwhile with the next one. */
export class StateWriter {
  readonly #write: () => Promise<void>
  readonly #onError: (error: CrabError) => void
  #last: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  /** `write` writes all there is; `onError` hears of a failure that nobody waits for. */
  constructor(write: () => Promise<void>, onError: (error: CrabError) => void) {
    this.#write = write
    this.#onError = onError
  }

  /** Something has changed: it is written soon. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.flush().catch((reason: unknown) => this.#onError(toCrabError(reason)))
    }, PAUSE_MS)
  }

  /** Writes now; durable when it resolves. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const mine = this.#last.then(() => this.#write())
    this.#last = mine.catch(() => undefined) // whoever asked for it is told
    return mine
  }
}
