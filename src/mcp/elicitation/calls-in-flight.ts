import type { JsonObject } from '../../core/base/message.ts'
import type { ElicitAnswer, ElicitationHandler } from './types.ts'

/** A call that the server has not answered, or that was cancelled a moment ago. */
interface Call {
  /** The same for all calls of one turn; unique for a call without a turn. */
  turn: string | symbol
  elicit: ElicitationHandler | undefined
  ended: AbortSignal
  /** Pauses the clock of the call while the user is asked. */
  pause(): Disposable
  /** The number of questions the server has asked. */
  questionCount: number
  /** Whether its turn was notified that questions are declined. */
  isNotified: boolean
}

/** The parts of a call that begin() needs. */
export interface CallStart {
  elicit: ElicitationHandler | undefined
  pause(): Disposable
}

/** A call under way. */
export interface InFlightCall extends Disposable {
  /** Asks the user of this particular call; declines when there is none. */
  answer(params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer>
  /** Whether the server left it unanswered, so that it may still ask a question about it. */
  isLeft: boolean
}

/**
 * The calls of one connection, tracked so that a question of the server reaches the turn it belongs to and no
 * other.
 *
 * Before MCP 2026-07-28 a question does not name its call: it is asked only when all calls under way belong
 * to one turn. A cancelled call counts for another half minute, because the server may learn of the
 * cancellation late.
 */
export class CallsInFlight {
  readonly #calls = new Set<Call>()

  begin({ elicit, pause }: CallStart): InFlightCall {
    const ended = new AbortController()
    const call: Call = {
      turn: elicit?.turn ?? Symbol(),
      elicit,
      pause,
      ended: ended.signal,
      questionCount: 0,
      isNotified: false,
    }
    this.#calls.add(call)
    const started: InFlightCall = {
      isLeft: true,
      answer: (params, signal) => this.#ask(call, params, signal),
      [Symbol.dispose]: () => {
        ended.abort()
        if (started.isLeft) setTimeout(() => this.#calls.delete(call), LATE_QUESTION_MS).unref()
        else this.#calls.delete(call)
      },
    }
    return started
  }

  /**
   * Answers a question that does not name its call. Declines when it may belong to more than one turn, or to
   * none.
   */
  async answer(params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer> {
    const [first, ...others] = this.#calls
    if (!first) return { action: 'decline' }
    if (others.some(({ turn }) => turn !== first.turn)) return this.#decline()
    const open = [first, ...others].find(({ ended }) => !ended.aborted)
    return open ? await this.#ask(open, params, signal) : { action: 'decline' }
  }

  /** Declines, and notifies each turn that could have been asked once. */
  #decline(): ElicitAnswer {
    const open = [...this.#calls].filter(({ ended, isNotified }) => !ended.aborted && !isNotified)
    for (const call of new Map(open.map((one) => [one.turn, one])).values()) call.elicit?.onDeclined?.()
    for (const call of open) call.isNotified = true
    return { action: 'decline' }
  }

  /** Asks the user with the clocks of all calls of the turn paused. */
  async #ask(call: Call, params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer> {
    const { elicit, turn, ended } = call
    if (!elicit || call.questionCount >= MAX_QUESTIONS) return { action: 'decline' }
    call.questionCount++
    const pauses = [...this.#calls].filter((one) => one.turn === turn).map((one) => one.pause())
    try {
      return await elicit.answer(params, AbortSignal.any([signal, ended]))
    } catch {
      return { action: 'cancel' } // the call is over
    } finally {
      for (const one of pauses) one[Symbol.dispose]()
    }
  }
}

/** The limit for one call: more than any form needs, few enough to tolerate. */
const MAX_QUESTIONS = 10
const LATE_QUESTION_MS = 30_000
