import type { Socket } from 'node:net'
import { toCancelledError } from '../base/abortable.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import { decodeMessage } from '../protocol/codec.ts'
import { ClientMessage, ServerMessage } from '../protocol/crabtalk.generated.ts'
import { type Dispatch, wireName } from '../protocol/dispatch.ts'
import { toErrorMsg } from '../protocol/failure.ts'
import { encodeFrame, readFrames } from '../protocol/frame.ts'
import { isLastReply, type Operation } from '../protocol/operations.ts'
import { connectEndpoint, isNotListening } from './connect.ts'
import type { SocketEndpoint } from './endpoint.ts'

/** A daemon, and how to authenticate to it. */
interface Peer {
  endpoint: SocketEndpoint
  /** A token of the daemon, for TCP. */
  token?: string
  /**
   * Handles the request instead when nothing listens at the endpoint; in this case the request was not sent.
   */
  otherwise?: Dispatch
}

const REQUEST_ID = 1
const AUTH_ID = 2

/**
 * Returns a Dispatch for the daemon at an endpoint. Each request opens a connection, which is closed after
 * its last reply.
 *
 * Like `route()` it never throws: a connection failure becomes one `error` reply, `unavailable` when nothing
 * listens there or the daemon disconnects before the last reply. Aborting, or leaving the iteration,
 * disconnects immediately.
 */
export function socketDispatch({ endpoint, token, otherwise }: Peer): Dispatch {
  return async function* dispatch(message, signal) {
    let socket: Socket | undefined
    const hangUp = () => socket?.destroy()
    try {
      const frames = requestFrames(message, token)
      socket = await connectEndpoint(endpoint, signal)
      signal.addEventListener('abort', hangUp, { once: true })
      if (signal.aborted) throw toCancelledError(signal) // aborted before the listener was added
      socket.write(frames)
      for await (const reply of repliesTo(message, socket)) {
        if (signal.aborted) throw toCancelledError(signal)
        yield reply
      }
    } catch (reason) {
      if (otherwise && isNotListening(reason)) return yield* otherwise(message, signal)
      const error = toCrabError(signal.aborted ? toCancelledError(signal) : reason)
      yield { requestId: message.requestId, msg: { $case: 'error', value: toErrorMsg(error) } }
    } finally {
      signal.removeEventListener('abort', hangUp)
      hangUp()
    }
  }
}

/** Returns everything a client sends on its connection, in one piece. */
function requestFrames(message: ClientMessage, token: string | undefined): Uint8Array {
  const request = toFrame({ ...message, requestId: REQUEST_ID })
  if (token === undefined) return request
  return Buffer.concat([toFrame({ requestId: AUTH_ID, msg: { $case: 'auth', value: { token } } }), request])
}

function toFrame(message: ClientMessage): Uint8Array {
  return encodeFrame(ClientMessage.encode(message).finish())
}

/** Yields the replies to the request, up to and including the last. */
async function* repliesTo(message: ClientMessage, socket: Socket): AsyncGenerator<ServerMessage> {
  const operation = message.msg?.$case as Operation | undefined
  try {
    for await (const payload of readFrames(socket)) {
      const reply = decodeMessage(ServerMessage, payload)
      const { msg } = reply
      if (!isOurs(reply) || isEmpty(msg)) continue
      yield { requestId: message.requestId, msg }
      if (isLastReply(operation, msg)) return
    }
  } catch (reason) {
    throw reason instanceof CrabError && reason.kind === 'invalid'
      ? new CrabError('internal', `Cannot read a reply of the daemon: ${reason.message}`, { cause: reason })
      : disconnectError(operation, reason)
  }
  throw disconnectError(operation)
}

/**
 * Whether a reply belongs to the request. An old daemon echoes no id, and a connection error has none. Of the
 * replies to `auth`, only a refusal counts.
 */
function isOurs({ requestId, msg }: ServerMessage): boolean {
  if (requestId === REQUEST_ID || requestId === 0) return true
  if (requestId === AUTH_ID) return msg?.$case === 'error'
  throw new CrabError('invalid', `it answers request ${requestId}, which was never sent`)
}

/** Whether a reply is only a heartbeat, or an event of a newer daemon that this version does not know. */
function isEmpty(msg: ServerMessage['msg']): boolean {
  return (msg?.$case === 'stream' || msg?.$case === 'attach') && msg.value.event === undefined
}

function disconnectError(operation: Operation | undefined, cause?: unknown): CrabError {
  const what = operation === undefined ? 'the request' : wireName(operation)
  return new CrabError('unavailable', `Cannot finish ${what}: the connection to the daemon was lost`, {
    cause,
    hint: 'everything completed is stored; see crabtalk daemon status and logs/daemon.log in the home directory',
  })
}
