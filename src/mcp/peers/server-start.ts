import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { connectServer, type ServerConnectOptions } from '../connection/connect.ts'
import type { Connection } from '../connection/connection.ts'
import type { ToolList } from '../tools/remote-tool.ts'
import type { StartSlots } from './startup.ts'

/** How a server is started. */
export interface StartOptions extends ServerConnectOptions {
  /** Of programs; what runs elsewhere needs none. */
  slots: StartSlots | undefined
  /** Whether the program may have to be fetched first. */
  mayInstall: boolean
  /** The last line on its standard error that says something; empty when there is none. */
  lastWords(): string
}

/** A server that is connected, and what it has. */
export interface StartedServer {
  connection: Connection
  list: ToolList
}

/**
 * Starts a server in its turn, connects and reads its list, all within its time. Fails with `unavailable`, saying in lower
 * case what happened, or as the signal says.
 */
export async function startServer(options: StartOptions, signal: AbortSignal): Promise<StartedServer> {
  const { slots, needed, mayInstall } = options
  using _installing = mayInstall ? await slots?.installing.take(needed, signal) : undefined
  using _slot = await slots?.any.take(needed, signal)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(tooLate(options)), options.startupMs)
  try {
    return await connectAndList(options, AbortSignal.any([signal, late.signal]))
  } catch (reason) {
    throw toFailedStart(reason, signal)
  } finally {
    clearTimeout(timer)
  }
}

async function connectAndList(options: StartOptions, signal: AbortSignal): Promise<StartedServer> {
  const connection = await connectServer(options, signal)
  try {
    return { connection, list: await connection.listTools(signal) }
  } catch (reason) {
    void connection.close()
    throw reason
  }
}

function tooLate({ startupMs, lastWords }: StartOptions): CrabError {
  const words = lastWords()
  const said = words === '' ? '' : `; its last words were: ${words}`
  return new CrabError('timeout', `it was not ready within ${startupMs / 1000} s${said}`, {
    hint: 'give it more time with startup_timeout_ms if it needs it',
  })
}

/** The program that is not there, the timeout, the refusal: a server that cannot be used now. */
function toFailedStart(reason: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return toCancelledError(signal)
  if (!(reason instanceof CrabError)) return reason
  const message = reason.message.replace(/^Cannot /, 'cannot ')
  const { hint, retryAfterMs } = reason
  return new CrabError(reason.kind === 'credentials' ? 'credentials' : 'unavailable', message, {
    cause: reason,
    ...(hint !== undefined && { hint }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
