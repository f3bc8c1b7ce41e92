import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { abortable, toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { getErrorCode } from '../base/system-error.ts'
import { formatEndpoint, type SocketEndpoint } from './endpoint.ts'

/** The number of attempts, and the milliseconds between them, while a daemon's accept queue is full. */
const BUSY = { attempts: 200, waitMs: 10 }

/**
 * Connects to a daemon; aborting gives up.
 *
 * A Unix socket refuses connections while its accept queue is full; these are retried for some seconds.
 * Throws `unavailable`; `isNotListening()` tells whether there is no daemon at all.
 */
export async function connectEndpoint(endpoint: SocketEndpoint, signal: AbortSignal): Promise<Socket> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connectOnce(endpoint, signal)
    } catch (reason) {
      const isBusy = reason instanceof CrabError && getErrorCode(reason.cause) === 'EAGAIN'
      if (!isBusy || attempt === BUSY.attempts) throw reason
    }
    await abortable(sleep(BUSY.waitMs), signal)
  }
}

async function connectOnce(endpoint: SocketEndpoint, signal: AbortSignal): Promise<Socket> {
  if (signal.aborted) throw toCancelledError(signal)
  const socket = openSocket(endpoint)
  const gate = Promise.withResolvers<void>()
  const onAbort = () => gate.reject(toCancelledError(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  socket.once('connect', gate.resolve)
  socket.on('error', (reason) => gate.reject(toUnavailable(endpoint, reason)))
  try {
    await gate.promise
    return socket
  } catch (reason) {
    socket.destroy()
    throw reason
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Whether an error of `connectEndpoint()` means that nothing listens there: there is no socket, or only a
 * stale one.
 */
export function isNotListening(reason: unknown): boolean {
  return reason instanceof CrabError && NOT_LISTENING.has(getErrorCode(reason.cause))
}

function openSocket(endpoint: SocketEndpoint): Socket {
  if (endpoint.kind !== 'tcp') return connectSocket({ path: endpoint.path })
  return connectSocket({ host: endpoint.host, port: endpoint.port, noDelay: true })
}

function toUnavailable(endpoint: SocketEndpoint, cause: Error): CrabError {
  const why = REASONS[getErrorCode(cause)] ?? cause.message
  return new CrabError('unavailable', `Cannot reach a daemon at ${formatEndpoint(endpoint)}: ${why}`, {
    cause,
    hint: 'start one with crabup daemon start, or crabtalk daemon run',
  })
}

const NOT_LISTENING: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR'])
const REASONS: Record<string, string> = {
  ENOENT: 'none is running',
  ENOTDIR: 'none is running',
  ECONNREFUSED: 'no answer',
  EACCES: 'permission denied',
  EAGAIN: 'it is busy',
}
