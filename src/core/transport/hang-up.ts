import type { Socket } from 'node:net'
import type { ClientMessage, ServerMessage } from '../protocol/crabtalk.generated.ts'

/** How often a client that sends nothing more is looked after, in milliseconds. */
export interface ProbeTimes {
  probeMs: number
  heartbeatMs: number
}

/**
 * Finds out whether a client whose bytes have ended, or are not read, is still there: closes the socket when it is not.
 *
 * To a reader, half-closing and hanging up look the same. An empty write fails when the other end of a Unix socket is
 * closed. Over TCP it fails only after the other end has refused something, so there a heartbeat is sent as well.
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
 * Gives a reply to that request that holds nothing; undefined where a client could take it for an answer.
 *
 * It is for clients that know the additions: they skip an event without a case. Clients of the fixed protocol take it for
 * an error. A reply without a case goes to clients that send ids only, and only behind the end of their bytes.
 */
export function emptyReply({ requestId, msg }: ClientMessage, hasEnded: boolean): ServerMessage | undefined {
  if (msg?.$case === 'stream') {
    return { requestId, msg: { $case: 'stream', value: { event: undefined, seq: 0 } } }
  }
  if (msg?.$case === 'attach') return { requestId, msg: { $case: 'attach', value: { event: undefined } } }
  return hasEnded && requestId !== 0 ? { requestId, msg: undefined } : undefined
}
