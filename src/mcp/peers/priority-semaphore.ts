import { toCancelledError } from '../../core/base/abortable.ts'

/** A semaphore in which needed holders take precedence, then the order of arrival. */
export class PrioritySemaphore {
  #free: number
  readonly #needed: (() => void)[] = []
  readonly #others: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Waits for a slot, ahead of others once `needed` resolves; disposing releases it. Throws when aborted. */
  async take(needed: Promise<void>, signal: AbortSignal): Promise<Disposable> {
    if (signal.aborted) throw toCancelledError(signal)
    if (this.#free === 0) await this.#turn(needed, signal)
    else this.#free--
    return { [Symbol.dispose]: () => this.#give() }
  }

  async #turn(needed: Promise<void>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = () => {
      // Otherwise it has its slot already.
      if (takeOut(this.#needed, resolve) || takeOut(this.#others, resolve)) reject(toCancelledError(signal))
    }
    this.#others.push(resolve)
    void needed.then(() => takeOut(this.#others, resolve) && this.#needed.push(resolve))
    signal.addEventListener('abort', onAbort, { once: true })
    await promise.finally(() => signal.removeEventListener('abort', onAbort))
  }

  /** Hands the slot to the next holder directly, so that no newcomer can take it in between. */
  #give(): void {
    const next = this.#needed.shift() ?? this.#others.shift()
    if (next) next()
    else this.#free++
  }
}

function takeOut<T>(queue: T[], one: T): boolean {
  const place = queue.indexOf(one)
  if (place >= 0) queue.splice(place, 1)
  return place >= 0
}
