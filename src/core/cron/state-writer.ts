import { type CrabError, toCrabError } from '../base/errors.ts'
import { Serial } from '../base/serial.ts'

/** The debounce time between a change and its write. */
const PAUSE_MS = 250

/**
 * Debounces writes of frequently changing state: one write at a time, and later changes go into the next one.
 */
export class StateWriter {
  readonly #write: () => Promise<void>
  readonly #onError: (error: CrabError) => void
  readonly #writes = new Serial()
  #timer: NodeJS.Timeout | undefined

  /** `write` writes the whole state; `onError` receives failures of writes that no caller awaits. */
  constructor(write: () => Promise<void>, onError: (error: CrabError) => void) {
    this.#write = write
    this.#onError = onError
  }

  /** Schedules a write after a change. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.flush().catch((reason: unknown) => this.#onError(toCrabError(reason)))
    }, PAUSE_MS)
  }

  /** Writes immediately, after any running write; durable when it resolves. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#writes.run(this.#write)
  }
}
