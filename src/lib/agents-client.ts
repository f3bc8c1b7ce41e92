import { CrabError, toCrabError } from '../core/base/errors.ts'
import {
  type AgentEventKind,
  type AgentEventMsg,
  type AskUserEvent,
  type AttachEvent,
  type ConversationList,
  type DeepPartial,
  type ListConversationsMsg,
  type ListMessages,
  type MessageList,
  OnAsk,
  type RunResult,
  type SearchSessions,
  SendResponse,
  type SessionHits,
  type StreamEvent,
  type StreamMsg,
} from '../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany, streamTurn } from '../core/protocol/dispatch.ts'
import { fromStreamEnd } from '../core/protocol/failure.ts'
import type { Operation, ReplyOf, RequestOf, StreamOperation } from '../core/protocol/operations.ts'

/** One event of a turn: its `$case` says which, `value` is the message of that name in the protocol. */
export type TurnEvent = NonNullable<StreamEvent['event']> & {
  /** Counts the events of the conversation. */
  readonly seq: number
}

/**
 * Answers a question: from each question to a label or free text. Undefined leaves it to others, and an answer that comes
 * behind somebody else's is dropped.
 */
export type Answer = (
  ask: AskUserEvent,
) => Record<string, string> | undefined | Promise<Record<string, string> | undefined>

/** How a turn differs from the usual one: the fields of StreamMsg besides its content. */
export interface TurnChoices extends DeepPartial<Omit<StreamMsg, 'content'>> {
  /** Is asked what the agent asks; without it every question is answered with no. */
  onAsk?: Answer
  signal?: AbortSignal
}

/** A conversation. */
export interface ClientAddress {
  agent?: string
  sender?: string
}

/**
 * Agents over a Dispatch: those of a daemon, see connect(), or of a runtime in this process.
 *
 * Everything fails with a CrabError whose `kind` says why. Leaving an iteration, or aborting its signal, cancels.
 */
export interface Client {
  /** The way out that everything here uses, for what has no method. */
  readonly dispatch: Dispatch
  /** Runs a turn and yields its events, `end` last; a turn that failed ends with `value.error`. */
  stream(content: string, choices?: TurnChoices): AsyncGenerator<TurnEvent>
  /** Runs a turn and gives its whole answer. */
  send(content: string, choices?: TurnChoices): Promise<SendResponse>
  /** The text of an answer. */
  ask(content: string, choices?: TurnChoices): Promise<string>
  /** Answers a question by its id. */
  answer(askId: string, answers: Record<string, string>, at?: ClientAddress): Promise<void>
  /** Stops what runs in a conversation, which stays usable. */
  kill(at?: ClientAddress): Promise<void>
  /** Waits for a run that was begun with `detach`. */
  wait(runId: string, signal?: AbortSignal): Promise<RunResult>
  /** A conversation as it stands, then everything that happens to it. */
  follow(at: ClientAddress & { afterSeq?: number }, signal?: AbortSignal): AsyncGenerator<AttachEvent>
  /** What all agents do, as it happens; the kinds from TEXT_DELTA to THINKING_END unless others are named. */
  subscribe(kinds?: readonly AgentEventKind[], signal?: AbortSignal): AsyncGenerator<AgentEventMsg>
  /** Publishes an event; the subscriptions to it run their agents. */
  publish(source: string, payload: string): Promise<void>
  /** Stored conversations, newest first; `filePath` is what other operations call `session`. */
  conversations(filter?: DeepPartial<ListConversationsMsg>, signal?: AbortSignal): Promise<ConversationList>
  /** A page of what was said in one, oldest first. */
  messages(
    session: string,
    page?: DeepPartial<Omit<ListMessages, 'session'>>,
    signal?: AbortSignal,
  ): Promise<MessageList>
  /** Conversations by what was said in them, the best first, with the messages around each match (RFC 0185). */
  search(
    query: string,
    filter?: DeepPartial<Omit<SearchSessions, 'query'>>,
    signal?: AbortSignal,
  ): Promise<SessionHits>
  /** Any operation that is answered once, by its name in the protocol. */
  request<O extends Exclude<Operation, StreamOperation>>(
    operation: O,
    body?: DeepPartial<RequestOf<O>>,
    signal?: AbortSignal,
  ): Promise<ReplyOf<O>>
}

/** Typed sugar over a Dispatch. */
export function clientOf(dispatch: Dispatch): Client {
  const send: Client['send'] = (content, choices = {}) => sendTurn(dispatch, content, choices)
  return {
    dispatch,
    send,
    ask: async (content, choices) => (await send(content, choices)).content,
    stream: (content, choices = {}) => streamEvents(dispatch, content, choices),
    answer: (askId, answers, at = {}) => reply(dispatch, { ...at, askId }, answers),
    async kill(at = {}) {
      await request(dispatch, 'kill', at, never())
    },
    wait: (runId, signal = never()) => request(dispatch, 'waitRun', { runId }, signal),
    follow: (at, signal = never()) => requestMany(dispatch, 'attach', at, signal),
    subscribe(kinds = [], signal = never()) {
      if (!Array.isArray(kinds)) throw notKinds()
      return requestMany(dispatch, 'subscribeEvents', { kinds: [...kinds] }, signal)
    },
    async publish(source, payload) {
      await request(dispatch, 'publishEvent', { source, payload }, never())
    },
    conversations: (filter = {}, signal = never()) => request(dispatch, 'listConversations', filter, signal),
    messages: (session, page = {}, signal = never()) =>
      request(dispatch, 'listMessages', { ...page, session }, signal),
    search: (query, filter = {}, signal = never()) =>
      request(dispatch, 'searchSessions', { ...filter, query }, signal),
    request: (operation, body, signal = never()) =>
      request(dispatch, operation, body ?? ({} as never), signal),
  }
}

function notKinds(): CrabError {
  return new CrabError('invalid', 'Cannot subscribe: the kinds are not a list', {
    hint: 'subscribe(kinds, signal): a list of AgentEventKind or undefined, then the signal',
  })
}

async function* streamEvents(
  dispatch: Dispatch,
  content: string,
  { onAsk, signal = never(), ...message }: TurnChoices,
): AsyncGenerator<TurnEvent> {
  const broken = new AbortController()
  const options = { ...message.options, ...(onAsk && { onAsk: OnAsk.CLIENT }) }
  const either = AbortSignal.any([signal, broken.signal])
  try {
    for await (const { seq, event } of streamTurn(dispatch, { ...message, content, options }, either)) {
      if (!event) continue
      yield { ...event, seq }
      if (event.$case !== 'askUser' || !onAsk) continue
      const at = { ...toClientAddress(message), askId: event.value.askId }
      answerWith(onAsk, event.value, (answers) => reply(dispatch, at, answers)).catch(
        broken.abort.bind(broken),
      )
    }
  } catch (reason) {
    throw broken.signal.aborted ? broken.signal.reason : reason
  }
}

async function answerWith(
  onAsk: Answer,
  ask: AskUserEvent,
  send: (answers: Record<string, string>) => Promise<void>,
): Promise<void> {
  const answers = await onAsk(ask)
  if (!answers) return
  await send(answers).catch((reason: unknown) => {
    if (toCrabError(reason).kind !== 'missing') throw reason // somebody else was quicker, or it timed out: the turn goes on
  })
}

/** Questions come in a stream only, so a turn that may ask is one. */
async function sendTurn(dispatch: Dispatch, content: string, choices: TurnChoices): Promise<SendResponse> {
  const { onAsk, signal = never(), ...message } = choices
  if (!onAsk) return await request(dispatch, 'send', { ...message, content }, signal)
  const answer = SendResponse.create()
  const texts: string[] = []
  for await (const event of streamEvents(dispatch, content, choices)) {
    if (event.$case === 'start') {
      Object.assign(answer, { runId: event.value.runId, sessionId: event.value.sessionId })
    }
    if (event.$case === 'textStart') texts.push('')
    if (event.$case === 'chunk') texts.push((texts.pop() ?? '') + event.value.content)
    if (event.$case !== 'end') continue
    const failure = fromStreamEnd(event.value)
    if (failure) throw failure
    const { agent, model, usage, costUsd, turns, detail } = event.value
    const stopReason = detail?.stopReason ?? ''
    Object.assign(answer, { agent, model, usage, costUsd, turns, stopReason, content: texts.join('\n\n') })
  }
  return answer
}

async function reply(
  dispatch: Dispatch,
  at: ClientAddress & { askId: string },
  answers: Record<string, string>,
): Promise<void> {
  await request(dispatch, 'replyToAsk', { ...at, content: JSON.stringify(answers) }, never())
}

function toClientAddress({ agent, sender }: DeepPartial<StreamMsg>): ClientAddress {
  return { ...(agent !== undefined && { agent }), ...(sender !== undefined && { sender }) }
}

function never(): AbortSignal {
  return new AbortController().signal
}
