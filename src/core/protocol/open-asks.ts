import type { AskUserEvent, StreamEvent } from './crabtalk.generated.ts'

/** A question that waits for an answer. */
export interface OpenAsk {
  readonly ask: AskUserEvent
  /** Aborted when the question is closed. */
  readonly closed: AbortSignal
}

/** The open questions that a client knows of, oldest first. */
export class OpenAsks implements Iterable<OpenAsk> {
  readonly #asks = new Map<string, { ask: AskUserEvent; closing: AbortController }>()

  get size(): number {
    return this.#asks.size
  }

  /** Opens or closes the question that an event is about, if any; returns whether this changed anything. */
  apply(event: StreamEvent['event']): boolean {
    if (event?.$case === 'askUser') return this.open(event.value)
    return event?.$case === 'askClosed' && this.close(event.value.askId)
  }

  /** Returns whether the question is new. */
  open(ask: AskUserEvent): boolean {
    if (this.#asks.has(ask.askId)) return false
    this.#asks.set(ask.askId, { ask, closing: new AbortController() })
    return true
  }

  /** Returns whether the question was open. */
  close(askId: string): boolean {
    this.#asks.get(askId)?.closing.abort()
    return this.#asks.delete(askId)
  }

  *[Symbol.iterator](): Generator<OpenAsk> {
    for (const { ask, closing } of this.#asks.values()) yield { ask, closed: closing.signal }
  }
}
