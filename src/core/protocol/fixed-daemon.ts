import { CrabError } from '../base/errors.ts'
import { ClientMessage, OnAsk, type ServerMessage, type StreamMsg } from './crabtalk.generated.ts'
import { type Dispatch, wireName } from './dispatch.ts'
import { toErrorMsg } from './failure.ts'
import { addedFields, isDefault, isFixedOperation } from './fixed-protocol.ts'
import type { Operation } from './operations.ts'

/** A daemon that speaks the fixed protocol, without `hello`. */
export interface FixedDaemon {
  /** The address it listens on, such as `unix:/home/ann/.crabtalk/run/crabtalk.sock`. */
  at: string
  /** The agent to name in requests that do not name one. */
  defaultAgent: string
}

/**
 * Adapts a daemon of the fixed protocol to a Dispatch (ADR 0161).
 *
 * Forwards the operations of the fixed protocol. A request that the daemon would reject, or whose meaning it
 * would change by ignoring a field, is answered by `unavailable` before anything is sent.
 */
export function overFixedDaemon(dispatch: Dispatch, daemon: FixedDaemon): Dispatch {
  return async function* dispatchToFixed(message, signal) {
    const unknown = findUnknown(message)
    if (unknown !== undefined) return yield toError(message, olderProtocol(unknown, daemon))
    const request = withAgent(message, daemon)
    const { msg } = request
    for await (const reply of dispatch(request, signal)) {
      if (
        msg?.$case === 'stream' &&
        reply.msg?.$case === 'stream' &&
        reply.msg.value.event?.$case === 'askUser'
      ) {
        const { onAsk = OnAsk.DENY } = msg.value.options ?? {}
        if (onAsk === OnAsk.FAIL) return yield toError(message, cannotAsk())
        if (onAsk !== OnAsk.CLIENT) await declineAsk(dispatch, msg.value, signal)
      }
      const known = toKnown(request, reply)
      if (known) yield known
    }
  }
}

/** Returns the first part of a request that the fixed protocol lacks. */
function findUnknown(message: ClientMessage): string | undefined {
  const { msg } = message
  if (msg === undefined || msg.$case === 'getConfig') return undefined
  if (!isFixedOperation(msg.$case)) return wireName(msg.$case)
  const ignored = IGNORED[msg.$case] ?? []
  const field = addedFields(message).find((name) => name !== 'options' && !ignored.includes(name))
  return field === undefined ? unknownOption(message) : wireName(field as Operation)
}

function unknownOption({ msg }: ClientMessage): string | undefined {
  if (msg?.$case !== 'stream' && msg?.$case !== 'send') return undefined
  const { onAsk, ...options } = msg.value.options ?? {}
  if (onAsk === OnAsk.PARK) return 'on_ask'
  const named = Object.entries(options).find(
    ([name, value]) => !IGNORED_OPTIONS.has(name) && !isDefault(value),
  )
  return named && wireName(named[0] as Operation)
}

/** Options of a turn that may be ignored: such a daemon reports a full context, or a busy model, instead. */
const IGNORED_OPTIONS: ReadonlySet<string> = new Set(['env', 'compactAt', 'retryPolicy'])

/** Added fields that no client depends on, or whose effect is emulated on the replies. */
const IGNORED: Readonly<Record<string, readonly string[]>> = {
  listConversations: ['offset', 'limit'],
  listSkills: ['agent'],
  listModels: ['ask'],
  subscribeEvents: ['kinds'],
  publishEvent: ['id'],
  upsertMcp: ['verify'],
  replyToAsk: ['askId'],
}

/** Returns the request with its agent filled in, because this daemon has no default agent. */
function withAgent(message: ClientMessage, { defaultAgent }: FixedDaemon): ClientMessage {
  const { msg } = message
  switch (msg?.$case) {
    case 'send':
      return { ...message, msg: { ...msg, value: { ...msg.value, agent: msg.value.agent || defaultAgent } } }
    case 'stream':
      return { ...message, msg: { ...msg, value: { ...msg.value, agent: msg.value.agent || defaultAgent } } }
    case 'kill':
      return { ...message, msg: { ...msg, value: toPair(msg.value, defaultAgent) } }
    case 'compact':
      return { ...message, msg: { ...msg, value: toPair(msg.value, defaultAgent) } }
    case 'steerSession':
      return { ...message, msg: { ...msg, value: toPair(msg.value, defaultAgent) } }
    case 'replyToAsk':
      return { ...message, msg: { ...msg, value: toPair(msg.value, defaultAgent) } }
    case 'getAgent':
      return { ...message, msg: { ...msg, value: { name: msg.value.name || defaultAgent } } }
    default:
      return message
  }
}

function toPair<T extends { agent: string; sender: string }>(value: T, defaultAgent: string): T {
  return { ...value, agent: value.agent || defaultAgent, sender: value.sender || 'user' }
}

/**
 * Returns the reply as a daemon with the added fields would send it; undefined for a reply that the client
 * filtered out.
 */
function toKnown({ msg: request }: ClientMessage, reply: ServerMessage): ServerMessage | undefined {
  const { msg } = reply
  if (request?.$case === 'subscribeEvents' && msg?.$case === 'agentEvent') {
    const { kinds } = request.value
    return kinds.length === 0 || kinds.includes(msg.value.kind) ? reply : undefined
  }
  if (request?.$case !== 'listConversations' || msg?.$case !== 'conversationList') return reply
  const { offset, limit } = request.value
  const { conversations } = msg.value
  const page = conversations.slice(offset, limit === 0 ? undefined : offset + limit)
  const value = { ...msg.value, conversations: page, total: conversations.length }
  return { ...reply, msg: { ...msg, value } }
}

/**
 * Declines a question on behalf of the client. Such a daemon always asks, and the turn would wait for an
 * answer.
 */
async function declineAsk(
  dispatch: Dispatch,
  { agent, sender }: StreamMsg,
  signal: AbortSignal,
): Promise<void> {
  const value = { agent, sender: sender || 'user', content: DECLINED }
  const reply = ClientMessage.create({ msg: { $case: 'replyToAsk', value } })
  for await (const _ of dispatch(reply, signal)) return
}

const DECLINED = 'The user cannot be asked. Choose what is safest, and say what you assumed.'

function olderProtocol(what: string, { at }: FixedDaemon): CrabError {
  return new CrabError(
    'unavailable',
    `Cannot use ${what}: the process at ${at} speaks an older protocol (no hello)`,
    {
      hint: 'it runs turns and lists agents and conversations; for everything else use another CRABTALK_HOME',
    },
  )
}

function cannotAsk(): CrabError {
  return new CrabError('denied', "Cannot ask: no one is there to answer the agent's question", {
    hint: 'run it on a terminal, or with --on-ask deny',
  })
}

function toError({ requestId }: ClientMessage, error: CrabError): ServerMessage {
  return { requestId, msg: { $case: 'error', value: toErrorMsg(error) } }
}
