import type { Socket } from 'node:net'
import { toCancelledError } from '../base/abortable.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import { decodeMessage } from '../protocol/codec.ts'
import { ClientMessage } from '../protocol/crabtalk.generated.ts'
import { type Dispatch, wireName } from '../protocol/dispatch.ts'
import { ClientProtocol, isFixedReply } from '../protocol/fixed-protocol.ts'
import { readFrames } from '../protocol/frame.ts'
import { isLastReply, type Operation } from '../protocol/operations.ts'
import { Admission, type AdmittedClient, type Gatekeeper } from './admission.ts'
import { emptyReply, type ProbeTimes, receivedBytes, watchForHangUp } from './client-socket.ts'
import { ReplyWriter } from './reply-writer.ts'
import { RunningRequests } from './running-requests.ts'

/** The time limits of a connection, in milliseconds. */
export interface ConnectionTimes extends ProbeTimes {
  /** The time until the token must have arrived. */
  authMs: number
  /** The time a client has to read its last reply before the connection is closed. */
  lingerMs: number
}

/** The services a listener provides to a connection. */
export interface ConnectionOptions {
  /** Serves clients that need no token. */
  dispatch: Dispatch
  /** Serves a client that has used no additions to the fixed protocol; `dispatch` when absent. */
  fixedDispatch?: Dispatch | undefined
  /** Checks the token in the first message; absent: no token is required. */
  gatekeeper?: Gatekeeper | undefined
  /** Called when the client is admitted. */
  onAdmitted(): void
  isTcp: boolean
  times: ConnectionTimes
  /**
   * When aborted, no more requests are read, subscriptions end, and the connection closes after its last
   * reply.
   */
  goAway: AbortSignal
  /** When aborted, with a CrabError, every running request is aborted with it. */
  stop: AbortSignal
}

/** One accepted connection and its requests. */
interface Connection extends ConnectionOptions {
  socket: Socket
  /** Aborted to stop reading; with a CrabError when the client is to receive the reason. */
  reading: AbortController
  requests: RunningRequests
  replies: ReplyWriter
  client: ClientProtocol
}

/**
 * The maximum number of concurrent requests of one connection; no more are read until one of them is
 * answered.
 */
export const MAX_RUNNING_REQUESTS = 1024

/**
 * Serves one connection until it is closed and all its requests have settled. Never rejects.
 *
 * Messages are dispatched as they arrive. Bytes that are not a message are answered by an `error` for request
 * 0, and the connection closes. A client that disconnects aborts its requests; one that half-closes still
 * receives its replies.
 */
export async function serveConnection(socket: Socket, options: ConnectionOptions): Promise<void> {
  const requests = new RunningRequests()
  const replies = new ReplyWriter(socket)
  const client = new ClientProtocol()
  const connection = { ...options, socket, requests, replies, client, reading: new AbortController() }
  socket.on('error', () => undefined) // `close` follows, and aborts the requests
  socket.once('close', () => {
    connection.reading.abort() // messages that are still unread are not started
    requests.abort(new CrabError('cancelled', 'Cancelled: the client disconnected'))
  })
  using _end = followShutdown(connection)
  await serveRequests(connection)
  await requests.fewerThan(1)
}

async function serveRequests(connection: Connection): Promise<void> {
  const { socket, requests, replies, times } = connection
  try {
    await readRequests(connection)
    await settleBelow(1, connection)
  } catch (reason) {
    const error = toCrabError(reason)
    requests.abort(error)
    closeWithin(socket, times.lingerMs)
    await replies.writeError(0, error)
  }
  if (!socket.readableEnded) closeWithin(socket, times.lingerMs)
  await endSocket(socket)
}

/** Starts requests as they arrive, until the client has sent everything or the connection is to close. */
async function readRequests(connection: Connection): Promise<void> {
  const { socket, requests, replies, reading, gatekeeper, times } = connection
  const address = socket.remoteAddress ?? ''
  const onAdmitted = (client: AdmittedClient) => serveClient(connection, client)
  using admission = new Admission(gatekeeper, { address, authMs: times.authMs, reading, onAdmitted })
  try {
    for await (const payload of readFrames(receivedBytes(socket, reading.signal), admission.firstLimit)) {
      const message = decodeMessage(ClientMessage, payload)
      connection.client.see(message)
      if (admission.isFor(message)) {
        await replies.write(await admission.answer(message))
      } else {
        void requests.run(message, (signal) => answer(connection, message, signal))
        await settleBelow(MAX_RUNNING_REQUESTS, connection)
      }
      if (reading.signal.aborted) return // messages that arrived after it are ignored
    }
  } catch (reason) {
    if (!reading.signal.aborted) throw toBadRequest(reason)
  }
  if (reading.signal.reason instanceof CrabError) throw reading.signal.reason
}

/** Switches to the dispatch of an admitted client; revoking its token aborts all its requests. */
function serveClient(connection: Connection, { dispatch, fixedDispatch, ended }: AdmittedClient): void {
  const { socket, reading, requests, times, onAdmitted } = connection
  connection.dispatch = dispatch
  connection.fixedDispatch = fixedDispatch
  onAdmitted()
  const end = () => {
    reading.abort(ended.reason)
    requests.abort(ended.reason)
    closeWithin(socket, times.lingerMs)
  }
  if (ended.aborted) end()
  ended.addEventListener('abort', end)
  socket.once('close', () => ended.removeEventListener('abort', end))
}

/**
 * Waits until fewer than `count` requests run; meanwhile, with nothing being read, probes whether the client
 * is connected.
 */
async function settleBelow(count: number, connection: Connection): Promise<void> {
  const { socket, requests, replies, client, isTcp, times } = connection
  if (requests.size < count) return
  const sendHeartbeat = () => {
    if (socket.writableLength > 0 || !client.hasAdditions) return
    for (const message of requests.messages) {
      const reply = emptyReply(message, socket.readableEnded)
      // the client disconnected: `close` aborts the requests
      if (reply) void replies.write(reply).catch(() => undefined)
    }
  }
  using _watch = watchForHangUp(socket, times, isTcp ? sendHeartbeat : undefined)
  await requests.fewerThan(count)
}

/** Writes all replies to one request that its client understands; a failure becomes the last reply. */
async function answer(
  { dispatch, fixedDispatch = dispatch, client, replies }: Connection,
  message: ClientMessage,
  signal: AbortSignal,
): Promise<void> {
  const operation = message.msg?.$case as Operation | undefined
  const { hasAdditions } = client
  const serve = hasAdditions ? dispatch : fixedDispatch
  try {
    for await (const reply of serve(message, signal)) {
      if (!hasAdditions && !isFixedReply(reply)) continue
      await replies.write(reply)
      if (isLastReply(operation, reply.msg)) return
    }
    if (signal.aborted) throw toCancelledError(signal)
    const what = operation === undefined ? 'the request' : wireName(operation)
    throw new CrabError('unavailable', `Cannot finish ${what}: the replies stopped before the last`)
  } catch (reason) {
    await replies.writeError(message.requestId, toCrabError(reason))
  }
}

function followShutdown({ requests, reading, socket, goAway, stop, times }: Connection): Disposable {
  const onGoAway = () => {
    reading.abort()
    requests.abortEndless(new CrabError('unavailable', 'Cannot continue: the daemon is shutting down'))
  }
  const onStop = () => {
    requests.abort(toCancelledError(stop))
    closeWithin(socket, times.lingerMs)
  }
  goAway.addEventListener('abort', onGoAway)
  stop.addEventListener('abort', onStop)
  return {
    [Symbol.dispose]() {
      goAway.removeEventListener('abort', onGoAway)
      stop.removeEventListener('abort', onStop)
    },
  }
}

/** Treats a stream that ends inside a frame like bytes that are not a frame. */
function toBadRequest(reason: unknown): CrabError {
  const error = toCrabError(reason)
  return error.kind === 'unavailable' ? new CrabError('invalid', error.message, { cause: error }) : error
}

/** Flushes pending writes, and waits until both sides have closed the connection. */
async function endSocket(socket: Socket): Promise<void> {
  if (socket.destroyed) return
  const closed = Promise.withResolvers<void>()
  socket.once('close', closed.resolve)
  socket.end()
  socket.resume() // closing with unread bytes could discard the last reply at the client
  await closed.promise
}

function closeWithin(socket: Socket, lingerMs: number): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
