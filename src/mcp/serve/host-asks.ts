import { type InputRequiredResult, inputRequired, type ServerContext } from '@modelcontextprotocol/server'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { OpenAsk } from '../../core/protocol/open-asks.ts'
import { toAskAnswers, toForm } from './elicitation.ts'
import type { ServedTurn } from './turn.ts'

/** A turn with a question for its host. */
export interface AskingTurn {
  turn: ServedTurn
  /** The name under which the user knows the agent. */
  agent: string
}

/**
 * The turns whose host must call again with answers (MCP 2026-07-28). A turn that is over by then keeps its
 * result for that call; a turn whose host does not call again within ten minutes is cancelled and forgotten.
 */
export class PendingTurns {
  readonly #pending = new Map<string, AskingTurn & { asks: readonly AskUserEvent[]; timer: NodeJS.Timeout }>()

  /** Stores a turn and returns the state with which the host resumes it. */
  keep({ turn, agent }: AskingTurn, asks: readonly AskUserEvent[]): string {
    const state = newUlid()
    const expire = () => {
      this.#pending.delete(state)
      turn.cancel(toAnswerTimeout())
    }
    this.#pending.set(state, { turn, agent, asks, timer: setTimeout(expire, PENDING_MS).unref() })
    return state
  }

  /** Passes the host's answers to the turn of that state. Throws `missing` for an unknown state. */
  async take(state: string, responses: JsonObject | undefined): Promise<AskingTurn> {
    const pendingTurn = this.#pending.get(state)
    if (!pendingTurn) throw toUnknownStateError()
    clearTimeout(pendingTurn.timer)
    this.#pending.delete(state)
    await Promise.all(
      pendingTurn.asks.map((ask) => pendingTurn.turn.reply(ask, toAskAnswers(ask, responses?.[ask.askId]))),
    )
    return pendingTurn
  }
}

/** Requests that the host call again with its user's answers (MCP 2026-07-28, multi round trips). */
export function requestInput(
  pendingTurns: PendingTurns,
  { turn, agent, asks }: AskingTurn & { asks: readonly OpenAsk[] },
): InputRequiredResult {
  const requests = asks.map(({ ask }) => [ask.askId, inputRequired.elicit(toForm(agent, ask))])
  return inputRequired({
    inputRequests: Object.fromEntries(requests),
    requestState: pendingTurns.keep(
      { turn, agent },
      asks.map(({ ask }) => ask),
    ),
  })
}

/** Asks the user of an older host and replies with the answer; a failed request counts as unanswered. */
export async function elicitFromHost(
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

function toAnswerTimeout(): CrabError {
  return new CrabError('timeout', 'Cancelled: the host did not return an answer')
}

/**
 * Returns the error for an unknown state. The call also carries the message, which must not be sent a second
 * time.
 */
function toUnknownStateError(): CrabError {
  return new CrabError('missing', 'Cannot continue: nothing waits for this answer any more', {
    hint: 'call without it to send the message again',
  })
}

/** The time a user has to answer. */
const PENDING_MS = 600_000
