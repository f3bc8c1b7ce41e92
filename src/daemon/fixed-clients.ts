import { parseObject } from '../core/base/json.ts'
import { completePair } from '../core/policy/client-senders.ts'
import { classifyTurn } from '../core/policy/trust.ts'
import {
  ClientMessage,
  type KillMsg,
  OnAsk,
  type ReplyToAsk,
  RetryPolicy,
  type ServerMessage,
  type StreamMsg,
  TurnOptions,
} from '../core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../core/protocol/dispatch.ts'
import type { Question } from '../core/runtime/asks.ts'
import type { RequestContext } from './handlers/request-context.ts'

/**
 * Serves clients of the fixed protocol with the common dispatch, and gives their requests the meaning that
 * those clients rely on (ADR 0160).
 *
 * - A turn of the local class may ask: its client shows the question.
 * - A reply to a question may be text, a label or the number of an option.
 * - `kill` of an idle conversation starts a new one for its pair; the old one stays stored.
 */
export function forFixedClients(dispatch: Dispatch, served: RequestContext<'asks' | 'running'>): Dispatch {
  return async function* dispatchFixed(message, signal) {
    const { msg } = message
    switch (msg?.$case) {
      case 'stream':
        return yield* dispatch({ ...message, msg: { ...msg, value: withAsker(msg.value, served) } }, signal)
      case 'replyToAsk':
        return yield* dispatch({ ...message, msg: { ...msg, value: withAnswers(msg.value, served) } }, signal)
      case 'kill':
        return yield* killOrClear(dispatch, { message, kill: msg.value, served }, signal)
      default:
        yield* dispatch(message, signal)
    }
  }
}

/**
 * Sends questions of a turn of the local class to the user of its client, including the one whether to trust
 * a new folder: the notice that would replace it cannot be shown there.
 */
function withAsker(message: StreamMsg, { channel }: RequestContext<never>): StreamMsg {
  const isLocal = classifyTurn(channel, message.sender ?? '') === 'local'
  const asks = isLocal ? { onAsk: OnAsk.CLIENT, asksTrust: true } : {}
  return { ...message, options: TurnOptions.create({ ...asks, retryPolicy: RetryPolicy.QUICK }) }
}

/**
 * Rewrites the reply as a JSON object that answers each question of the pair's oldest ask; keeps its content
 * when no ask is pending.
 */
function withAnswers(message: ReplyToAsk, served: RequestContext<'asks'>): ReplyToAsk {
  const { services } = served
  const { agent, sender } = completePair(served.channel, message)
  const waiting = services.asks.list(agent).find((pending) => pending.sender === sender)
  if (!waiting) return { ...message, agent, sender }
  return {
    ...message,
    agent,
    sender,
    content: JSON.stringify(parseReply(message.content, waiting.ask.questions)),
  }
}

/**
 * Parses a reply that a person typed or chose. A JSON object answers by question; a question without an
 * answer gets an empty string. Any other text answers the first question: the number of an option (from 1),
 * its label in any case, or free text.
 */
export function parseReply(content: string, questions: readonly Question[]): Record<string, string> {
  const parsed = parseObject(content)
  const entries = questions.map((question, index) => {
    if (!parsed) return [question.question, index === 0 ? toAnswer(content.trim(), question) : '']
    const answer = parsed[question.question]
    return [question.question, typeof answer === 'string' ? toLabel(answer, question) : '']
  })
  return Object.fromEntries(entries)
}

function toAnswer(text: string, { options, multiSelect }: Question): string {
  const parts = multiSelect ? text.split(',').map((part) => part.trim()) : [text]
  const labels = parts.map((part) => optionAt(part, options) ?? findLabel(part, options))
  return labels.every((label) => label !== undefined) ? labels.join(', ') : text
}

function toLabel(text: string, { options }: Question): string {
  return findLabel(text, options) ?? text
}

function optionAt(text: string, options: Question['options']): string | undefined {
  return /^[1-9]\d?$/.test(text) ? options[Number(text) - 1]?.label : undefined
}

function findLabel(text: string, options: Question['options']): string | undefined {
  const folded = text.trim().toLowerCase()
  return options.find(({ label }) => label.toLowerCase() === folded)?.label
}

interface Kill {
  message: ClientMessage
  kill: KillMsg
  served: RequestContext<'running'>
}

/**
 * Cancels what runs for the pair. If nothing was running, the pair's next message starts a new conversation.
 */
async function* killOrClear(
  dispatch: Dispatch,
  { message, kill, served }: Kill,
  signal: AbortSignal,
): AsyncGenerator<ServerMessage> {
  const { agent, sender } = completePair(served.channel, kill)
  const { running } = served.services
  const isIdle = running.list().every(({ pair, ...turn }) => turn.agent !== agent || pair.sender !== sender)
  for await (const reply of dispatch(message, signal)) {
    if (isIdle && reply.msg?.$case === 'pong') {
      const newSession = ClientMessage.create({ msg: { $case: 'newSession', value: { agent, sender } } })
      for await (const { msg } of dispatch(newSession, signal)) if (msg?.$case === 'error') reply.msg = msg
    }
    yield reply
  }
}
