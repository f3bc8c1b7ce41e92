import type { CrabError } from '../base/errors.ts'
import type { AgentEvent } from './events.ts'

/** Brings what happens inside a piece of work to whoever follows the turn. */
export class EventChannel {
  #events: AgentEvent[] = []
  #changed = Promise.withResolvers<void>()
  #failure: CrabError | undefined

  readonly push = (event: AgentEvent): void => {
    this.#events.push(event)
    this.#changed.resolve()
  }

  /** Fails the work that is followed with `during`, after what was told before. */
  fail(error: CrabError): void {
    this.#failure = error
    this.#changed.resolve()
  }

  /** Follows a piece of work: yields what is told meanwhile and gives its result. Throws as the work does. */
  async *during<T>(work: Promise<T>): AsyncGenerator<AgentEvent, T> {
    const finished = work.then((value) => ({ value }))
    for (;;) {
      const done = await Promise.race([finished, this.#changed.promise])
      yield* this.drain()
      if (this.#failure) throw this.#failure
      if (done) return done.value
    }
  }

  /** What was told and nobody has seen yet. */
  *drain(): Generator<AgentEvent> {
    const told = this.#events
    this.#events = []
    this.#changed = Promise.withResolvers()
    yield* told
  }
}
