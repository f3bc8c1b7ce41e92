import { connect as connectSocket, type Socket } from 'node:net'
import { orCancelled, toCancelled } from '../base/cancelled.ts'
import { CrabError } from '../base/errors.ts'
import { codeOf } from '../base/system-error.ts'
import { type Endpoint, formatEndpoint } from './endpoint.ts'

/** How often, and how many milliseconds apart, a daemon is tried that has no room for a connection. */
const BUSY = { attempts: 200, waitMs: 10 }

/**
 * An open connection to a daemon; aborting while it is being made gives up.
 *
 * A Unix socket refuses connections while too many wait to be accepted: those are tried again for some seconds. Fails
 * with `unavailable`; `isNobodyThere()` tells whether there is no daemon at all.
 */
export async function connect(endpoint: Endpoint, signal: AbortSignal): Promise<Socket> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connectOnce(endpoint, signal)
    } catch (reason) {
      const isBusy = reason instanceof CrabError && codeOf(reason.cause) === 'EAGAIN'
      if (!isBusy || attempt === BUSY.attempts) throw reason
    }
    await orCancelled(new Promise<void>((resolve) => setTimeout(resolve, BUSY.waitMs)), signal)
  }
}

async function connectOnce(endpoint: Endpoint, signal: AbortSignal): Promise<Socket> {
  if (signal.aborted) throw toCancelled(signal)
  const socket = openSocket(endpoint)
  const gate = Promise.withResolvers<void>()
  const onAbort = () => gate.reject(toCancelled(signal))
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

/** Whether a failure of `connect()` says that nothing listens there: no socket, or one that its owner left behind. */
export function isNobodyThere(reason: unknown): boolean {
  return reason instanceof CrabError && NOBODY.has(codeOf(reason.cause))
}

function openSocket(endpoint: Endpoint): Socket {
  if (endpoint.kind !== 'tcp') return connectSocket({ path: endpoint.path })
  return connectSocket({ host: endpoint.host, port: endpoint.port, noDelay: true })
}

function toUnavailable(endpoint: Endpoint, cause: Error): CrabError {
  const why = REASONS[codeOf(cause)] ?? cause.message
  return new CrabError('unavailable', `Cannot reach a daemon at ${formatEndpoint(endpoint)}: ${why}`, {
    cause,
    hint: 'start one with `crabtalk daemon run`',
  })
}

const NOBODY: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR'])
const REASONS: Record<string, string> = {
  ENOENT: 'there is none',
  ENOTDIR: 'there is none',
  ECONNREFUSED: 'nobody answers',
  EACCES: 'permission denied',
  EAGAIN: 'it is busy',
}
