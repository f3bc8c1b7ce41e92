import type { CrabError } from '../base/errors.ts'
import type { AgentEvent } from './events.ts'

/** Passes events from inside an operation to the consumer of the turn's events. */
export class EventChannel {
  #events: AgentEvent[] = []
  #changed = Promise.withResolvers<void>()
  #failure: CrabError | undefined

  readonly push = (event: AgentEvent): void => {
    this.#events.push(event)
    this.#changed.resolve()
  }

  /** Makes `during` throw this error after it has yielded the events pushed so far. */
  fail(error: CrabError): void {
    this.#failure = error
    this.#changed.resolve()
  }

  /** Yields the events that are pushed while `work` runs, and returns its result. Fails as the work does. */
  async *during<T>(work: Promise<T>): AsyncGenerator<AgentEvent, T> {
    const finished = work.then((value) => ({ value }))
    for (;;) {
      const done = await Promise.race([finished, this.#changed.promise])
      yield* this.drain()
      if (this.#failure) throw this.#failure
      if (done) return done.value
    }
  }

  /** Yields and removes the events that no consumer has received yet. */
  *drain(): Generator<AgentEvent> {
    const pending = this.#events
    this.#events = []
    this.#changed = Promise.withResolvers()
    yield* pending
  }
}
