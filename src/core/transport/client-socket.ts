import type { Socket } from 'node:net'
import type { ClientMessage, ServerMessage } from '../protocol/crabtalk.generated.ts'

/** The intervals of probes and heartbeats to a client that sends nothing more, in milliseconds. */
export interface ProbeTimes {
  probeMs: number
  heartbeatMs: number
}

/**
 * Detects whether a client whose bytes have ended, or are not being read, is still connected; the socket
 * closes when it is not.
 *
 * To a reader, half-closing and disconnecting look the same. An empty write fails when the other end of a
 * Unix socket is closed. Over TCP it only fails after the other end has rejected data, so there a heartbeat
 * is sent as well.
 */
export function watchForHangUp(
  socket: Socket,
  { probeMs, heartbeatMs }: ProbeTimes,
  sendHeartbeat?: () => void,
): Disposable {
  const probe = () => {
    if (socket.writable && socket.writableLength === 0) socket.write('')
  }
  sendHeartbeat?.()
  probe()
  const timers = [setInterval(probe, probeMs)]
  if (sendHeartbeat) timers.push(setInterval(sendHeartbeat, heartbeatMs))
  const stop = () => {
    for (const timer of timers) clearInterval(timer)
    socket.off('close', stop)
  }
  socket.on('close', stop)
  return { [Symbol.dispose]: stop }
}

/**
 * Returns an empty reply to a request, used as a heartbeat; undefined where a client could take it for an
 * answer.
 *
 * Clients that know the additions skip an event without a case; clients of the fixed protocol treat it as an
 * error. A reply without a case is only sent to clients that send ids, and only after the end of their bytes.
 */
export function emptyReply({ requestId, msg }: ClientMessage, hasEnded: boolean): ServerMessage | undefined {
  if (msg?.$case === 'stream') {
    return { requestId, msg: { $case: 'stream', value: { event: undefined, seq: 0 } } }
  }
  if (msg?.$case === 'attach') return { requestId, msg: { $case: 'attach', value: { event: undefined } } }
  return hasEnded && requestId !== 0 ? { requestId, msg: undefined } : undefined
}

/**
 * Yields the bytes that arrive at a socket, until it ends or closes, or `stop` is aborted.
 *
 * Unlike the socket's own iterator it leaves the socket open, because replies still have to be written.
 */
export async function* receivedBytes(socket: Socket, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  let change = Promise.withResolvers<void>()
  const announce = () => change.resolve()
  for (const event of EVENTS) socket.on(event, announce)
  stop.addEventListener('abort', announce)
  try {
    while (!stop.aborted) {
      change = Promise.withResolvers<void>()
      const chunk: Uint8Array | null = socket.read()
      if (chunk !== null) yield chunk
      else if (socket.readableEnded || socket.destroyed) return
      else await change.promise
    }
  } finally {
    for (const event of EVENTS) socket.off(event, announce)
    stop.removeEventListener('abort', announce)
  }
}

const EVENTS = ['readable', 'end', 'close'] as const
