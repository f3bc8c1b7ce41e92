import type { JsonObject } from '../../core/base/message.ts'
import type { ElicitAnswer, ElicitationHandler } from './types.ts'

/** A call that the server has not answered yet, or was told to forget a moment ago. */
interface Call {
  /** Of calls of one turn the same; a call of no turn is alone. */
  turn: string | symbol
  elicit: ElicitationHandler | undefined
  over: AbortSignal
  /** Stops the clock of the call while a person is asked. */
  pause(): Disposable
  /** How often the server has asked. */
  asked: number
  /** Whether its turn knows that questions are declined. */
  isTold: boolean
}

/** What a call is begun with. */
export interface CallStart {
  elicit: ElicitationHandler | undefined
  pause(): Disposable
}

/** A call under way. */
export interface InFlightCall extends Disposable {
  /** Asks the person of this very call; declines when there is none. */
  answer(params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer>
  /** The server did not answer it: it may still ask for its sake. */
  isLeft: boolean
}

/**
 * The calls of one connection, so that a server's question reaches the turn it belongs to and no other.
 *
 * Before MCP 2026-07-28 a question does not say whose it is: it is put only when all calls under way are of one turn.
 * A call that was given up counts for half a minute more, as servers hear late of it.
 */
export class CallsInFlight {
  readonly #calls = new Set<Call>()

  begin({ elicit, pause }: CallStart): InFlightCall {
    const over = new AbortController()
    const call: Call = {
      turn: elicit?.turn ?? Symbol(),
      elicit,
      pause,
      over: over.signal,
      asked: 0,
      isTold: false,
    }
    this.#calls.add(call)
    const begun: InFlightCall = {
      isLeft: true,
      answer: (params, signal) => this.#ask(call, params, signal),
      [Symbol.dispose]: () => {
        over.abort()
        if (begun.isLeft) setTimeout(() => this.#calls.delete(call), HAUNTS_MS).unref()
        else this.#calls.delete(call)
      },
    }
    return begun
  }

  /** A question that does not say whose it is. Declined when it may be another turn's, or nobody's. */
  async answer(params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer> {
    const [first, ...others] = this.#calls
    if (!first) return { action: 'decline' }
    if (others.some(({ turn }) => turn !== first.turn)) return this.#decline()
    const open = [first, ...others].find(({ over }) => !over.aborted)
    return open ? await this.#ask(open, params, signal) : { action: 'decline' }
  }

  /** Those who might have been asked are told, a turn once. */
  #decline(): ElicitAnswer {
    const open = [...this.#calls].filter(({ over, isTold }) => !over.aborted && !isTold)
    for (const call of new Map(open.map((one) => [one.turn, one])).values()) call.elicit?.onDeclined?.()
    for (const call of open) call.isTold = true
    return { action: 'decline' }
  }

  /** The wait for a person is on no call of the turn. */
  async #ask(call: Call, params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer> {
    const { elicit, turn, over } = call
    if (!elicit || call.asked >= MOST_QUESTIONS) return { action: 'decline' }
    call.asked++
    const paused = [...this.#calls].filter((one) => one.turn === turn).map((one) => one.pause())
    try {
      return await elicit.answer(params, AbortSignal.any([signal, over]))
    } catch {
      return { action: 'cancel' } // nobody waits for it any more
    } finally {
      for (const one of paused) one[Symbol.dispose]()
    }
  }
}

/** Of one call: more than any form needs, and few enough to bear. */
const MOST_QUESTIONS = 10
const HAUNTS_MS = 30_000
