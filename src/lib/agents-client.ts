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
  type SendResponse,
  type SessionHits,
  type StreamEvent,
  type StreamMsg,
} from '../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany, streamTurn } from '../core/protocol/dispatch.ts'
import { fromStreamEnd } from '../core/protocol/failure.ts'
import type { Operation, ReplyOf, RequestOf, StreamOperation } from '../core/protocol/operations.ts'
import { foldTurnEvent, newTurnFold, type TurnFold } from '../core/protocol/turn-fold.ts'

/** One event of a turn: `$case` is its kind, `value` the protocol message of that name. */
export type TurnEvent = NonNullable<StreamEvent['event']> & {
  /** The sequence number of the event within the conversation. */
  readonly seq: number
}

/**
 * Answers a question with a map from each question to a label or free text. Undefined leaves it to other
 * clients; an answer that arrives after another client's is dropped.
 */
export type Answer = (
  ask: AskUserEvent,
) => Record<string, string> | undefined | Promise<Record<string, string> | undefined>

/** The options of a turn: the fields of StreamMsg except its content. */
export interface TurnChoices extends DeepPartial<Omit<StreamMsg, 'content'>> {
  /** Answers the agent's questions; without it every question is declined. */
  onAsk?: Answer
  signal?: AbortSignal
}

/** The agent and sender that identify a conversation. */
export interface ClientAddress {
  agent?: string
  sender?: string
}

/**
 * A client of agents over a Dispatch: those of a daemon, see connect(), or of a runtime in this process.
 *
 * Every method rejects with a CrabError whose `kind` is the reason. Leaving an iteration, or aborting its
 * signal, cancels it.
 */
export interface Client {
  /** The underlying Dispatch, for operations without a method. */
  readonly dispatch: Dispatch
  /** Runs a turn and yields its events, `end` last; a turn that failed ends with `value.error`. */
  stream(content: string, choices?: TurnChoices): AsyncGenerator<TurnEvent>
  /** Runs a turn and returns its whole answer. */
  send(content: string, choices?: TurnChoices): Promise<SendResponse>
  /** Runs a turn and returns the text of its answer. */
  ask(content: string, choices?: TurnChoices): Promise<string>
  /** Answers a question by its id. */
  answer(askId: string, answers: Record<string, string>, at?: ClientAddress): Promise<void>
  /** Cancels what is running in a conversation, which stays usable. */
  kill(at?: ClientAddress): Promise<void>
  /** Waits for a run that was started with `detach`. */
  wait(runId: string, signal?: AbortSignal): Promise<RunResult>
  /** Yields a snapshot of a conversation, then each of its events. */
  follow(at: ClientAddress & { afterSeq?: number }, signal?: AbortSignal): AsyncGenerator<AttachEvent>
  /** Yields the events of all agents as they happen; by default the kinds from TEXT_DELTA to THINKING_END. */
  subscribe(kinds?: readonly AgentEventKind[], signal?: AbortSignal): AsyncGenerator<AgentEventMsg>
  /** Publishes an event; the subscriptions to it run their agents. */
  publish(source: string, payload: string): Promise<void>
  /** Lists stored conversations, newest first; `filePath` is the `session` of other operations. */
  conversations(filter?: DeepPartial<ListConversationsMsg>, signal?: AbortSignal): Promise<ConversationList>
  /** Returns a page of the messages of a conversation, oldest first. */
  messages(
    session: string,
    page?: DeepPartial<Omit<ListMessages, 'session'>>,
    signal?: AbortSignal,
  ): Promise<MessageList>
  /**
   * Searches the messages of conversations (ADR 0125), the best match first, with the messages around each
   * match.
   */
  search(
    query: string,
    filter?: DeepPartial<Omit<SearchSessions, 'query'>>,
    signal?: AbortSignal,
  ): Promise<SessionHits>
  /** Sends any operation with a single reply, by its name in the protocol. */
  request<O extends Exclude<Operation, StreamOperation>>(
    operation: O,
    body?: DeepPartial<RequestOf<O>>,
    signal?: AbortSignal,
  ): Promise<ReplyOf<O>>
}

/** Creates a typed client over a Dispatch. */
export function createClient(dispatch: Dispatch): Client {
  const send: Client['send'] = (content, choices = {}) => sendTurn(dispatch, content, choices)
  return {
    dispatch,
    send,
    ask: async (content, choices) => (await send(content, choices)).content,
    stream: (content, choices = {}) => streamEvents(dispatch, content, choices),
    answer: (askId, answers, at = {}) => reply(dispatch, { ...at, askId }, answers),
    async kill(at = {}) {
      await request(dispatch, 'kill', at, neverAborted())
    },
    wait: (runId, signal = neverAborted()) => request(dispatch, 'waitRun', { runId }, signal),
    follow: (at, signal = neverAborted()) => requestMany(dispatch, 'attach', at, signal),
    subscribe(kinds = [], signal = neverAborted()) {
      if (!Array.isArray(kinds)) throw toInvalidKindsError()
      return requestMany(dispatch, 'subscribeEvents', { kinds: [...kinds] }, signal)
    },
    async publish(source, payload) {
      await request(dispatch, 'publishEvent', { source, payload }, neverAborted())
    },
    conversations: (filter = {}, signal = neverAborted()) =>
      request(dispatch, 'listConversations', filter, signal),
    messages: (session, page = {}, signal = neverAborted()) =>
      request(dispatch, 'listMessages', { ...page, session }, signal),
    search: (query, filter = {}, signal = neverAborted()) =>
      request(dispatch, 'searchSessions', { ...filter, query }, signal),
    request: (operation, body, signal = neverAborted()) =>
      request(dispatch, operation, body ?? ({} as never), signal),
  }
}

function toInvalidKindsError(): CrabError {
  return new CrabError('invalid', 'Cannot subscribe: the kinds are not a list', {
    hint: 'subscribe(kinds, signal): a list of AgentEventKind or undefined, then the signal',
  })
}

async function* streamEvents(
  dispatch: Dispatch,
  content: string,
  { onAsk, signal = neverAborted(), ...message }: TurnChoices,
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
    if (toCrabError(reason).kind !== 'missing') throw reason // another client was faster, or it timed out: the turn continues
  })
}

/** Sends a message. Only streams carry questions, so a turn with `onAsk` is streamed. */
async function sendTurn(dispatch: Dispatch, content: string, choices: TurnChoices): Promise<SendResponse> {
  const { onAsk, signal = neverAborted(), ...message } = choices
  if (!onAsk) return await request(dispatch, 'send', { ...message, content }, signal)
  const turn = newTurnFold()
  for await (const event of streamEvents(dispatch, content, choices)) foldTurnEvent(turn, event)
  return toSendResponse(turn)
}

/** Returns the answer of a finished turn. Throws the error that the turn failed with. */
function toSendResponse({ run: runId, session: sessionId, summary, end }: TurnFold): SendResponse {
  const failure = end && fromStreamEnd(end)
  if (failure) throw failure
  const { agent = '', model = '', usage, costUsd, turns = 0, detail } = end ?? {}
  const stopReason = detail?.stopReason ?? ''
  return { runId, sessionId, agent, model, usage, costUsd, turns, stopReason, content: summary.text }
}

async function reply(
  dispatch: Dispatch,
  at: ClientAddress & { askId: string },
  answers: Record<string, string>,
): Promise<void> {
  await request(dispatch, 'replyToAsk', { ...at, content: JSON.stringify(answers) }, neverAborted())
}

function toClientAddress({ agent, sender }: DeepPartial<StreamMsg>): ClientAddress {
  return { ...(agent !== undefined && { agent }), ...(sender !== undefined && { sender }) }
}

function neverAborted(): AbortSignal {
  return new AbortController().signal
}
