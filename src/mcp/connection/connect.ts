import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { listenForChanges } from './change-stream.ts'
import { Connection, type Era } from './connection.ts'
import { type ServerLink, whenEnded } from './link.ts'
import { type Negotiation, watchNegotiation } from './negotiate.ts'
import { withRawResults } from './raw-results.ts'

/** The HTTP transport: `sse` is that of MCP 2024-11-05. Programs know only `streamable`. */
export type HttpVariant = 'streamable' | 'sse'

/** The options of `connectServer()`. */
export interface ServerConnectOptions {
  /** Opens a new link to it; called again when the negotiation lost the first one. */
  open(variant: HttpVariant, signal: AbortSignal): Promise<ServerLink>
  /** The era the server spoke last time. */
  era: Era | undefined
  /** The transport to try first: the remembered one. By default `streamable`. */
  variant?: HttpVariant | undefined
  /**
   * The transport to try when the server refuses the first one as servers do that do not implement it;
   * onFallback() then reports it.
   */
  fallback?: HttpVariant | undefined
  onFallback?(variant: HttpVariant): void
  /** The time limit of the start, milliseconds. */
  startupMs: number
  /**
   * The time a server has to answer whether it speaks MCP 2026-07-28, milliseconds; after it, an older
   * revision is assumed.
   */
  probeMs: number
  /** Resolves when a caller waits for the server; until then other work has priority. */
  needed: Promise<void>
  onToolsChanged(): void
  /**
   * Called when the server ended without a message although it was not probed for the newest revision: the
   * probe is not to blame.
   */
  onSilentExit(): void
}

/**
 * Connects to a server in the newest revision both speak, on one process wherever that is possible.
 *
 * Probing for the newest revision is harmless, except for servers that exit at any message before the
 * handshake: such a server is started again without the probe, and its era should be remembered. A server
 * that was silent for too long and then refuses the older handshake was slow to start: it is probed once
 * more. Throws `unavailable`, or as the signal or open() does; the message says in lower case what the server
 * did.
 */
export async function connectServer(options: ServerConnectOptions, signal: AbortSignal): Promise<Connection> {
  const { variant = 'streamable', fallback } = options
  const first = await connectVia(variant, options, signal)
  if ('connection' in first) return first.connection
  if (fallback === undefined || !first.isUnsupported || signal.aborted) throw first.error
  const second = await connectVia(fallback, { ...options, era: undefined }, signal).catch(() => first)
  if ('error' in second) throw signal.aborted ? toCancelledError(signal) : first.error
  options.onFallback?.(fallback)
  return second.connection
}

async function connectVia(
  variant: HttpVariant,
  options: ServerConnectOptions,
  signal: AbortSignal,
): Promise<Attempt> {
  let mode: Mode = options.era === 'legacy' || variant === 'sse' ? 'legacy' : 'auto'
  let attempt = await tryToConnect({ ...options, variant }, mode, signal)
  const again = 'sign' in attempt ? secondMode(mode, options.era, attempt.sign) : undefined
  if (again !== undefined && variant === 'streamable' && !signal.aborted) {
    mode = again
    attempt = await tryToConnect({ ...options, variant }, mode, signal)
  }
  if ('sign' in attempt && mode === 'legacy' && attempt.sign === 'ended without a word')
    options.onSilentExit()
  return attempt
}

type Mode = 'legacy' | 'auto' | 'modern'
/** The conclusion from a failure about the revisions of the server. */
type FailureSign = 'ended without a word' | 'refused' | 'refused unheard' | 'broken' | 'none'
type Attempt = { connection: Connection } | Failure
interface Failure {
  error: CrabError
  sign: FailureSign
  /** Whether the server may speak another transport. */
  isUnsupported?: boolean
}
type Opening = ServerConnectOptions & { variant: HttpVariant }
type Handshake = Opening & { sdk: typeof import('./sdk.ts'); mode: Mode }

function secondMode(first: Mode, era: Era | undefined, sign: FailureSign): Mode | undefined {
  const mayBeOld = sign === 'ended without a word' || sign === 'broken'
  if (first === 'auto' && era === undefined && mayBeOld) return 'legacy'
  return first === 'legacy' && sign === 'refused' ? 'auto' : undefined
}

/**
 * Opens the link first, and loads the SDK while the server starts: once a caller waits for it, or after 250
 * ms, so that loading does not delay work that the user is waiting for.
 */
async function tryToConnect(options: Opening, mode: Mode, signal: AbortSignal): Promise<Attempt> {
  if (signal.aborted) throw toCancelledError(signal)
  const link = await options.open(options.variant, signal)
  try {
    const patience = sleep(PATIENCE_MS, undefined, { ref: false, signal }).catch(() => undefined)
    await Promise.race([options.needed, patience])
    if (signal.aborted) throw toCancelledError(signal)
    const sdk = await import('./sdk.ts')
    return await performHandshake(link, { ...options, sdk, mode }, signal)
  } catch (reason) {
    void link.close()
    throw reason
  }
}

/** Performs the handshake, twice when the server was not ready for the first; closes a link that failed. */
async function performHandshake(link: ServerLink, options: Handshake, signal: AbortSignal): Promise<Attempt> {
  const first = await initializeClient(link, options, signal)
  if ('connection' in first) return first
  const isLate = first.sign === 'refused unheard'
  const second = isLate ? await initializeClient(link, { ...options, mode: 'modern' }, signal) : first
  if ('connection' in second) return second
  void link.close()
  return { ...(signal.aborted ? second : first), isUnsupported: isUnsupported(options.variant, link) }
}

/**
 * Tells an unknown transport by MCP 2025-11-25, Streamable HTTP, "Backwards compatibility": any 4xx except
 * those for authentication (401, 403) and throttling (429).
 */
function isUnsupported(variant: HttpVariant, { refusedWith = 0 }: ServerLink): boolean {
  return (
    variant === 'sse' || (refusedWith >= 400 && refusedWith < 500 && ![401, 403, 429].includes(refusedWith))
  )
}

async function initializeClient(
  link: ServerLink,
  { sdk, mode, startupMs, probeMs, onToolsChanged }: Handshake,
  signal: AbortSignal,
): Promise<Attempt> {
  const client = sdk.newClient(mode, mode === 'modern' ? startupMs : probeMs)
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged)
  const negotiation = watchNegotiation(link.transport)
  const connecting = client.connect(withRawResults(negotiation.transport), { timeout: startupMs })
  using abortion = followAbort(signal)
  const outcome = await Promise.race([
    connecting.then(
      () => ({ done: true }) as const,
      (reason: unknown) => ({ reason }) as const,
    ),
    link.ended.then((ended) => ({ ended }) as const),
    abortion.cancelled,
  ])
  if ('done' in outcome) {
    const connection = new Connection(client, link, sdk)
    if (connection.era === 'modern') void listenForChanges({ client, ended: link.ended, onToolsChanged })
    return { connection }
  }
  if ('cancelled' in outcome) return { error: outcome.cancelled, sign: 'none' }
  const knownError = 'reason' in outcome ? findTransportError(outcome.reason) : undefined
  if (knownError) return { error: knownError, sign: isBroken(knownError, link) ? 'broken' : 'none' }
  const isGone = 'ended' in outcome || sdk.classifyFailure(outcome.reason) === 'gone'
  if (!isGone) return { error: toRefusal(outcome.reason), sign: toFailureSign(negotiation) }
  const sign = link.hasSpoken ? 'none' : 'ended without a word'
  return { error: await whenEnded(link), sign }
}

function toFailureSign({ gaveUp, isOpen }: Negotiation): FailureSign {
  if (gaveUp) return 'refused unheard'
  return isOpen ? 'broken' : 'refused' // over HTTP, the SDK gives up when there is no answer
}

/** Returns the failure that the HTTP transport itself has diagnosed. */
function findTransportError(reason: unknown): CrabError | undefined {
  const cause = reason instanceof CrabError ? reason : (reason as Error | undefined)?.cause
  return cause instanceof CrabError && cause.kind !== 'unavailable' ? cause : undefined
}

/** Whether the server failed at an unknown request, with a 5xx for example, instead of refusing it. */
function isBroken({ kind }: CrabError, { refusedWith }: ServerLink): boolean {
  return kind === 'failed' && refusedWith === undefined
}

function toRefusal(reason: unknown): CrabError {
  const words = toPrintableLine(reason instanceof Error ? reason.message : String(reason))
  return new CrabError('unavailable', `the handshake failed: ${words}`, { cause: reason })
}

/** Follows a signal, which may outlive the connection, until disposed. */
function followAbort(signal: AbortSignal): Disposable & { cancelled: Promise<{ cancelled: CrabError }> } {
  const { promise: cancelled, resolve } = Promise.withResolvers<{ cancelled: CrabError }>()
  const onAbort = () => resolve({ cancelled: toCancelledError(signal) })
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return { cancelled, [Symbol.dispose]: () => signal.removeEventListener('abort', onAbort) }
}

/** The typical startup time of a server. */
const PATIENCE_MS = 250
