import { toCancelledError } from './abortable.ts'
import { createDeferred } from './deferred.ts'

/** Limits how many callers do something concurrently. The others wait, urgent ones ahead, in FIFO order. */
export class Semaphore {
  #free: number
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /**
   * Waits for a permit; disposing the result releases it. Once `urgent` resolves, the caller goes ahead of all
   * that are not urgent. Throws when aborted while it waits.
   */
  async take({ urgent, signal }: PermitOptions = {}): Promise<Disposable> {
    if (signal?.aborted) throw toCancelledError(signal)
    if (this.#free === 0) await this.#wait(urgent, signal)
    else this.#free--
    return { [Symbol.dispose]: () => this.#release() }
  }

  async #wait(urgent: Promise<void> | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = createDeferred<void>()
    const onAbort = () => {
      // Otherwise it has its permit already.
      if (removeFrom(this.#urgent, resolve) || removeFrom(this.#others, resolve)) {
        reject(toCancelledError(signal!))
      }
    }
    this.#others.push(resolve)
    void urgent?.then(() => removeFrom(this.#others, resolve) && this.#urgent.push(resolve))
    signal?.addEventListener('abort', onAbort, { once: true })
    await promise.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  /** Hands the permit to the next caller directly, so that no newcomer can take it in between. */
  #release(): void {
    const next = this.#urgent.shift() ?? this.#others.shift()
    if (next) next()
    else this.#free++
  }
}

/** The conditions under which a caller waits for a permit. */
export interface PermitOptions {
  urgent?: Promise<void>
  signal?: AbortSignal
}

function removeFrom<T>(queue: T[], one: T): boolean {
  const index = queue.indexOf(one)
  if (index >= 0) queue.splice(index, 1)
  return index >= 0
}
