import { toCancelled } from '../core/base/cancelled.ts'

/** Lets a limited number of holders in at once, first come first served. */
export class Slots {
  #free: number
  readonly #queue: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Waits for a slot; disposing gives it back. Throws when aborted. */
  async take(signal: AbortSignal): Promise<Disposable> {
    if (signal.aborted) throw toCancelled(signal)
    if (this.#free === 0) await this.#turn(signal)
    else this.#free--
    return { [Symbol.dispose]: () => this.#give() }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = () => {
      const place = this.#queue.indexOf(resolve)
      if (place < 0) return // it has its slot already
      this.#queue.splice(place, 1)
      reject(toCancelled(signal))
    }
    this.#queue.push(resolve)
    signal.addEventListener('abort', onAbort, { once: true })
    await promise.finally(() => signal.removeEventListener('abort', onAbort))
  }

  /** A slot goes to the next who waits without being free in between. */
  #give(): void {
    const next = this.#queue.shift()
    if (next) next()
    else this.#free++
  }
}
