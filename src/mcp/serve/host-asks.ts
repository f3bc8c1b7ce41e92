import { type InputRequiredResult, inputRequired, type ServerContext } from '@modelcontextprotocol/server'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { toAskAnswers, toForm } from './elicitation.ts'
import type { OpenAsk, ServedTurn } from './turn.ts'

/** A turn whose host is asked. */
export interface AskingTurn {
  turn: ServedTurn
  /** The name by which its person knows who asks. */
  agent: string
}

/**
 * Turns whose host is to call again with answers (MCP 2026-07-28). One that is over by then has its result for it; one
 * that nobody comes back for is cancelled, and forgotten.
 */
export class PendingTurns {
  readonly #held = new Map<string, AskingTurn & { asks: readonly AskUserEvent[]; timer: NodeJS.Timeout }>()

  /** Gives the state by which the host finds it again. */
  keep({ turn, agent }: AskingTurn, asks: readonly AskUserEvent[]): string {
    const state = newUlid()
    const giveUp = () => {
      this.#held.delete(state)
      turn.cancel(answerTimedOut())
    }
    this.#held.set(state, { turn, agent, asks, timer: setTimeout(giveUp, PENDING_MS).unref() })
    return state
  }

  /** Hands the answers of a host to the turn of that state. Throws `missing` when there is none. */
  async take(state: string, responses: JsonObject | undefined): Promise<AskingTurn> {
    const held = this.#held.get(state)
    if (!held) throw noPendingTurn()
    clearTimeout(held.timer)
    this.#held.delete(state)
    await Promise.all(held.asks.map((ask) => held.turn.reply(ask, toAskAnswers(ask, responses?.[ask.askId]))))
    return held
  }
}

/** Asks the host to call again with the answers of its person (MCP 2026-07-28, multi round trips). */
export function askLater(
  held: PendingTurns,
  { turn, agent, asks }: AskingTurn & { asks: readonly OpenAsk[] },
): InputRequiredResult {
  const requests = asks.map(({ ask }) => [ask.askId, inputRequired.elicit(toForm(agent, ask))])
  return inputRequired({
    inputRequests: Object.fromEntries(requests),
    requestState: held.keep(
      { turn, agent },
      asks.map(({ ask }) => ask),
    ),
  })
}

/** Asks the person of an older host and answers with what they say; a host that fails is a person who does not answer. */
export async function askNow(
  { ask, closed }: OpenAsk,
  { turn, agent, mcpReq }: AskingTurn & Pick<ServerContext, 'mcpReq'>,
): Promise<void> {
  const signal = AbortSignal.any([closed, mcpReq.signal])
  const params = { mode: 'form' as const, ...toForm(agent, ask) }
  const response = await mcpReq
    .send({ method: 'elicitation/create', params }, { signal, timeout: PENDING_MS })
    .catch(() => undefined)
  if (!signal.aborted) await turn.reply(ask, toAskAnswers(ask, response))
}

function answerTimedOut(): CrabError {
  return new CrabError('timeout', 'Cancelled: the host did not come back with an answer')
}

/** The call that brings the answer has the message, too, which must not be sent a second time. */
function noPendingTurn(): CrabError {
  return new CrabError('missing', 'Cannot go on: nothing waits for this answer any more', {
    hint: 'call without it to send the message again',
  })
}

/** As long as a person may take. */
const PENDING_MS = 600_000
