import { allowOptions } from '../base/allow-options.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import type { Ask, AskEnd, Asks, Denial, PermissionAsk, QueuedAsk } from './asks.ts'
import type { EventChannel } from './event-channel.ts'
import type { AgentEvent } from './events.ts'
import type { OnAsk } from './turn-request.ts'

/** The state that the questions of one turn share. */
export interface TurnAsksOptions {
  asks: Asks
  onAsk: OnAsk
  /** Whether the client stays until the turn ends, so that its questions need no time limit (ADR 0153). */
  isAttended: boolean
  channel: EventChannel
  turn: Pick<QueuedAsk, 'agent' | 'sender' | 'trust' | 'session' | 'runId'>
  newId(): string
  now(): number
}

/**
 * The questions of one turn: handled as the client's `onAsk` says, and reported to the followers of the turn.
 */
export class TurnAsks {
  readonly #options: TurnAsksOptions

  constructor(options: TurnAsksOptions) {
    this.#options = options
  }

  /** Waits for an answer; undefined when no client may be asked. With `fail` the turn fails with `denied`. */
  async put(question: Omit<Ask, 'id'>, signal: AbortSignal): Promise<AskEnd | undefined> {
    const { onAsk, channel, turn } = this.#options
    if (onAsk === 'deny') return undefined
    const isOwn = question.permission === undefined || CLASS_RIGHTS[turn.trust].asksClient
    if (onAsk === 'client' && !isOwn) return undefined // in this class a client must not permit its own calls
    if (onAsk === 'fail') {
      if (question.permission) channel.push(deniedResult(question.permission))
      channel.fail(unanswerable(question))
      return undefined
    }
    return this.#wait({ ...question, id: this.#options.newId() }, signal)
  }

  async #wait(ask: Ask, signal: AbortSignal): Promise<AskEnd> {
    const { asks, channel, turn, now, onAsk, isAttended } = this.#options
    channel.push({ type: 'ask', ask })
    const close = ({ by, answers }: AskEnd) =>
      channel.push({ type: 'ask-closed', askId: ask.id, by, answers })
    try {
      const hasTimeLimit = onAsk !== 'park' && !isAttended
      const end = await asks.wait({ ...turn, openedAt: now(), hasTimeLimit, ask }, signal)
      close(end)
      return end
    } catch (reason) {
      close({ by: toCrabError(reason).kind, answers: undefined })
      throw reason
    }
  }
}

/** The result that clients see for the call that ends its turn. */
function deniedResult({ callId, action, reason, rules }: PermissionAsk): AgentEvent {
  const denial: Denial = { action, reason, rules, by: 'nobody' }
  const output = `Not permitted: ${action}: ${reason}`
  return { type: 'tool-result', callId, output, durationMs: 0, isError: true, denial }
}

function unanswerable({ permission, questions }: Omit<Ask, 'id'>): CrabError {
  if (!permission) {
    return new CrabError('denied', `Cannot ask "${questions[0]?.question}": no user is available to answer`, {
      hint: 'run it on a terminal, or with --on-ask deny',
    })
  }
  const { action, reason, rules } = permission
  const hint = rules.length === 0 ? 'run it on a terminal' : `allow it with ${allowOptions(rules)}`
  return new CrabError('denied', `Cannot continue without permission for ${action}: ${reason}`, { hint })
}
