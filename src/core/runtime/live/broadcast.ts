import { toCancelledError } from '../../base/abortable.ts'
import { CrabError } from '../../base/errors.ts'

/** Sends values to any number of listeners; the sender never waits for them. */
export class Broadcast<T> {
  readonly #listeners = new Set<(value: T) => void>()

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  publish(value: T): void {
    for (const listener of this.#listeners) listener(value)
  }

  /**
   * Yields the values sent from now on, until the signal aborts. Throws `unavailable` when more than `most`
   * values wait to be read.
   */
  listen(signal: AbortSignal, { most = MAX_WAITING }: { most?: number } = {}): AsyncGenerator<T> {
    const waiting: T[] = []
    let news = Promise.withResolvers<void>()
    const listener = (value: T) => {
      if (waiting.length <= most) waiting.push(value) // the value beyond the limit marks the overflow
      news.resolve()
    }
    const stop = () => {
      this.#listeners.delete(listener)
      signal.removeEventListener('abort', stop)
      news.resolve()
    }
    this.#listeners.add(listener)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop() // an aborted signal fires no further event
    return drain()

    async function* drain(): AsyncGenerator<T> {
      try {
        for (;;) {
          await news.promise
          if (signal.aborted) throw toCancelledError(signal)
          if (waiting.length > most) throw tooSlow(most)
          const taken = waiting.splice(0)
          news = Promise.withResolvers()
          yield* taken
        }
      } finally {
        stop()
      }
    }
  }
}

const MAX_WAITING = 20_000

function tooSlow(most: number): CrabError {
  return new CrabError(
    'unavailable',
    `Cannot keep following: more than ${most} events are waiting to be read`,
    {
      hint: 'read faster, or ask for fewer kinds of events',
    },
  )
}
