import { toCancelledError } from '../base/abortable.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../base/errors.ts'
import {
  ClientMessage,
  type DeepPartial,
  type HelloInfo,
  type ServerMessage,
  StreamEvent,
  type StreamMsg,
} from './crabtalk.generated.ts'
import { fromErrorMsg, fromStreamEnd, toErrorMsg } from './failure.ts'
import { OpenAsks } from './open-asks.ts'
import {
  type Operation,
  REPLIES,
  type ReplyBody,
  type ReplyOf,
  type RequestOf,
  type StreamOperation,
} from './operations.ts'

/**
 * The one seam of the program: a message goes in, its replies come out (ADR 0012).
 *
 * The daemon, the socket client and the in-process runtime all implement it. Aborting, or leaving the
 * iteration, cancels the work.
 */
export type Dispatch = (message: ClientMessage, signal: AbortSignal) => AsyncIterable<ServerMessage>

/**
 * Handles one operation. An error it throws becomes the `error` reply. It returns nothing when the reply is
 * `pong`.
 */
export type Handler<O extends Operation> = (request: RequestOf<O>, signal: AbortSignal) => AnswerOf<O>

type AnswerOf<O extends Operation> = O extends StreamOperation
  ? AsyncIterable<ReplyOf<O>>
  : (typeof REPLIES)[O] extends 'pong'
    ? Promise<void>
    : Promise<ReplyOf<O>>

/** A handler for every operation; only hosts that embed the daemon handle `extension`. */
export type Handlers = { [O in Exclude<Operation, 'extension'>]: Handler<O> } & {
  extension?: Handler<'extension'>
}

/**
 * Combines handlers into a Dispatch that never throws: a failure becomes the last reply, of case `error`.
 *
 * An operation without a handler, and an empty message, have code 400; `get_config` has 410, `extension` 500.
 */
export function route(handlers: Partial<Handlers>): Dispatch {
  return async function* dispatch({ msg, requestId }, signal) {
    try {
      if (msg === undefined) throw new CrabError('invalid', 'empty client message')
      if (msg.$case === 'getConfig') throw new CrabError('gone', 'Cannot serve get_config: it was removed')
      const answer = findHandler(handlers, msg.$case)(msg.value, signal)
      if (Symbol.asyncIterator in answer) {
        for await (const value of answer) yield toReply(msg.$case, value, requestId)
      } else {
        yield toReply(msg.$case, await answer, requestId)
      }
    } catch (reason) {
      yield { requestId, msg: { $case: 'error', value: toErrorMsg(toCrabError(reason)) } }
    }
  }
}

/**
 * Requests an operation with one reply. Throws the error the peer reports, and `unavailable` when there is no
 * reply.
 */
export async function request<O extends Exclude<Operation, StreamOperation>>(
  dispatch: Dispatch,
  operation: O,
  body: DeepPartial<RequestOf<O>>,
  signal: AbortSignal,
): Promise<ReplyOf<O>> {
  for await (const reply of requestMany(dispatch, operation, body, signal)) return reply
  throw unanswered(signal, `Cannot finish ${wireName(operation)}: no reply arrived`)
}

/**
 * Sends `hello` and returns the daemon's answer; undefined for a daemon that predates this operation, which
 * answers with code 400 and no detail. Throws like request().
 */
export async function requestHello(
  dispatch: Dispatch,
  versions: number[],
  signal: AbortSignal,
): Promise<HelloInfo | undefined> {
  const hello = ClientMessage.create({ msg: { $case: 'hello', value: { versions } } })
  for await (const { msg } of dispatch(hello, signal)) {
    if (msg?.$case === 'hello') return msg.value
    if (msg?.$case !== 'error') continue
    if (msg.value.code === ERROR_KINDS.invalid.wire && msg.value.detail === undefined) return undefined
    throw fromErrorMsg(msg.value)
  }
  throw unanswered(signal, 'Cannot finish hello: no reply arrived')
}

/** Requests any operation and yields its replies until they end. Throws the error the peer reports. */
export async function* requestMany<O extends Operation>(
  dispatch: Dispatch,
  operation: O,
  body: DeepPartial<RequestOf<O>>,
  signal: AbortSignal,
): AsyncGenerator<ReplyOf<O>> {
  const msg = { $case: operation, value: body } as DeepPartial<ClientMessage['msg']>
  for await (const reply of dispatch(ClientMessage.create({ msg }), signal)) {
    if (reply.msg?.$case === 'error') throw fromErrorMsg(reply.msg.value)
    if (reply.msg?.$case !== REPLIES[operation]) {
      const got = reply.msg?.$case ?? 'empty'
      throw new CrabError('internal', `Cannot use the reply to ${wireName(operation)}: it is ${got}`)
    }
    yield reply.msg.value as ReplyOf<O>
  }
}

/**
 * Runs one turn and yields its events, up to and including `end`. No question is open at its end.
 *
 * The turn itself closes its questions (see LiveTurns). Those that stay open for this client are closed here:
 * its connection ended first, or the daemon is of the fixed protocol, which reports no closed question.
 *
 * Throws the error the peer reports before the end, and `unavailable` when the replies stop without one. A
 * failed turn has ended too: see `fromStreamEnd`.
 */
export async function* streamTurn(
  dispatch: Dispatch,
  message: DeepPartial<StreamMsg>,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const open = new OpenAsks()
  try {
    for await (const reply of requestMany(dispatch, 'stream', message, signal)) {
      const { event } = reply
      open.apply(event)
      if (event?.$case === 'end') yield* closeAll(open, fromStreamEnd(event.value)?.kind ?? 'cancelled')
      yield reply
      if (event?.$case === 'end') return
    }
    throw unanswered(signal, 'Cannot finish the turn: the replies stopped before its end')
  } catch (reason) {
    yield* closeAll(open, toCrabError(reason).kind)
    throw reason
  }
}

function* closeAll(asks: OpenAsks, by: string): Generator<StreamEvent> {
  for (const { ask } of asks) {
    const { askId } = ask
    asks.close(askId)
    yield StreamEvent.create({ event: { $case: 'askClosed', value: { askId, by, content: '' } } })
  }
}

type AnyHandler = (
  request: RequestOf<Operation>,
  signal: AbortSignal,
) => AsyncIterable<unknown> | Promise<unknown>

function findHandler(handlers: Partial<Handlers>, operation: Operation): AnyHandler {
  const handler = handlers[operation] as AnyHandler | undefined
  if (handler !== undefined) return handler
  if (operation === 'extension')
    throw new CrabError('failed', 'Cannot serve extension: this host has no extensions')
  throw new CrabError('invalid', `Cannot serve ${wireName(operation)}: it is not supported here`)
}

function toReply(operation: Operation, value: unknown, requestId: number): ServerMessage {
  return { requestId, msg: { $case: REPLIES[operation], value: value ?? {} } as ReplyBody }
}

function unanswered(signal: AbortSignal, message: string): CrabError {
  return signal.aborted ? toCancelledError(signal) : new CrabError('unavailable', message)
}

/** Returns the operation's name in the proto file. */
export function wireName(operation: Operation): string {
  return operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
