import type { CrabError } from '../base/errors.ts'
import type { AgentEvent } from './events.ts'

/** Brings what happens inside a piece of work to whoever follows the turn. */
export class EventChannel {
  #told: AgentEvent[] = []
  #changed = Promise.withResolvers<void>()

  readonly tell = (event: AgentEvent): void => {
    this.#told.push(event)
    this.#changed.resolve()
  }

  /** Fails whatever is followed with `during` now. */
  fail(error: CrabError): void {
    this.#changed.reject(error)
    this.#changed.promise.catch(() => undefined) // nobody may be following now; then the turn ends otherwise
  }

  /** Follows a piece of work: yields what is told meanwhile and gives its result. Throws as the work does. */
  async *during<T>(work: Promise<T>): AsyncGenerator<AgentEvent, T> {
    for (;;) {
      const done = await Promise.race([work.then((value) => ({ value })), this.#changed.promise])
      yield* this.drain()
      if (done) return done.value
    }
  }

  /** What was told and nobody has seen yet. */
  *drain(): Generator<AgentEvent> {
    const told = this.#told
    this.#told = []
    this.#changed = Promise.withResolvers()
    yield* told
  }
}
