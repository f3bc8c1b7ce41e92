import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toPrintableLine } from '../tools/remote-tool.ts'
import { listenForChanges } from './change-stream.ts'
import { Connection, type Era } from './connection.ts'
import { type ServerLink, whenEnded } from './link.ts'
import { type Negotiation, watchNegotiation } from './negotiate.ts'
import { withRawResults } from './raw-results.ts'

/** `sse` is HTTP as of 2024-11-05; anything else has one way. */
export type HttpVariant = 'usual' | 'sse'

/** How a server is reached. */
export interface ServerConnectOptions {
  /** Opens a new way to it; called again when the first was lost to the negotiation. */
  open(way: HttpVariant, signal: AbortSignal): Promise<ServerLink>
  /** What the server spoke last time. */
  era: Era | undefined
  /** How it is reached first: as last time. By default `usual`. */
  way?: HttpVariant | undefined
  /** Another way to reach it, when it refuses that one as servers do that do not know it; then onWay() is told so. */
  otherWay?: HttpVariant | undefined
  onWay?(way: HttpVariant): void
  /** How long it may take. */
  startupMs: number
  /** How long it may be silent when it is asked whether it speaks MCP 2026-07-28, before it is taken for an older one. */
  questionMs: number
  /** Resolves when somebody waits for it: until then other work goes first. */
  needed: Promise<void>
  onToolsChanged(): void
  /** Called when it ended without a word though it was not asked for the newest revision: that question is not to blame. */
  onMute(): void
}

/**
 * Connects to a server in the newest revision both speak, on one process wherever that is possible.
 *
 * The question for the newest is harmless, except to servers that end at any word before the handshake: such a one is
 * started again and asked nothing; its era is to be remembered. One that was silent for too long, and then refuses to be
 * spoken to as an older one, was slow to start: it is asked once more. Fails with `unavailable`, or as the signal or
 * open() says; the message says what the server did, in lower case.
 */
export async function connectServer(options: ServerConnectOptions, signal: AbortSignal): Promise<Connection> {
  const { way = 'usual', otherWay } = options
  const first = await connectVia(way, options, signal)
  if ('connection' in first) return first.connection
  if (otherWay === undefined || !first.isUnknownWay || signal.aborted) throw first.error
  const second = await connectVia(otherWay, { ...options, era: undefined }, signal).catch(() => first)
  if ('error' in second) throw signal.aborted ? toCancelledError(signal) : first.error
  options.onWay?.(otherWay)
  return second.connection
}

async function connectVia(
  way: HttpVariant,
  options: ServerConnectOptions,
  signal: AbortSignal,
): Promise<Attempt> {
  let mode: Mode = options.era === 'legacy' || way === 'sse' ? 'legacy' : 'auto'
  let attempt = await tryToConnect({ ...options, way }, mode, signal)
  const again = 'sign' in attempt ? secondMode(mode, options.era, attempt.sign) : undefined
  if (again !== undefined && way === 'usual' && !signal.aborted) {
    mode = again
    attempt = await tryToConnect({ ...options, way }, mode, signal)
  }
  if ('sign' in attempt && mode === 'legacy' && attempt.sign === 'ended without a word') options.onMute()
  return attempt
}

type Mode = 'legacy' | 'auto' | 'modern'
/** What a failure says about the revisions of the server. */
type FailureSign = 'ended without a word' | 'refused' | 'refused unheard' | 'broken' | 'none'
type Attempt = { connection: Connection } | Failure
interface Failure {
  error: CrabError
  sign: FailureSign
  /** Whether it may be one that is reached in another way. */
  isUnknownWay?: boolean
}
type Opening = ServerConnectOptions & { way: HttpVariant }
type Handshake = Opening & { sdk: typeof import('./sdk.ts'); mode: Mode }

function secondMode(first: Mode, era: Era | undefined, sign: FailureSign): Mode | undefined {
  const mayBeOld = sign === 'ended without a word' || sign === 'broken'
  if (first === 'auto' && era === undefined && mayBeOld) return 'legacy'
  return first === 'legacy' && sign === 'refused' ? 'auto' : undefined
}

/** The SDK is loaded while the server starts, and not while this process still prepares what a person waits for. */
async function tryToConnect(options: Opening, mode: Mode, signal: AbortSignal): Promise<Attempt> {
  if (signal.aborted) throw toCancelledError(signal)
  const link = await options.open(options.way, signal)
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

/** Says hello, twice where the server was not there yet; a link that came to nothing is closed. */
async function performHandshake(link: ServerLink, options: Handshake, signal: AbortSignal): Promise<Attempt> {
  const first = await initializeClient(link, options, signal)
  if ('connection' in first) return first
  const isLate = first.sign === 'refused unheard'
  const second = isLate ? await initializeClient(link, { ...options, mode: 'modern' }, signal) : first
  if ('connection' in second) return second
  void link.close()
  return { ...(signal.aborted ? second : first), isUnknownWay: isUnknownWay(options.way, link) }
}

/** By MCP 2025-11-25, Streamable HTTP, "Backwards compatibility": any 4xx but those that say who may ask, and when. */
function isUnknownWay(way: HttpVariant, { refusedWith = 0 }: ServerLink): boolean {
  return way === 'sse' || (refusedWith >= 400 && refusedWith < 500 && ![401, 403, 429].includes(refusedWith))
}

async function initializeClient(
  link: ServerLink,
  { sdk, mode, startupMs, questionMs, onToolsChanged }: Handshake,
  signal: AbortSignal,
): Promise<Attempt> {
  const client = sdk.newClient(mode, mode === 'modern' ? startupMs : questionMs)
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged)
  const asking = watchNegotiation(link.transport)
  const connecting = client.connect(withRawResults(asking.transport), { timeout: startupMs })
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
  const told = 'reason' in outcome ? ownFailure(outcome.reason) : undefined
  if (told) return { error: told, sign: isBroken(told, link) ? 'broken' : 'none' }
  const isGone = 'ended' in outcome || sdk.classifyFailure(outcome.reason) === 'gone'
  if (!isGone) return { error: toRefusal(outcome.reason), sign: toFailureSign(asking) }
  const sign = link.hasSpoken ? 'none' : 'ended without a word'
  return { error: await whenEnded(link), sign }
}

function toFailureSign({ gaveUp, isOpen }: Negotiation): FailureSign {
  if (gaveUp) return 'refused unheard'
  return isOpen ? 'broken' : 'refused' // by its address, the SDK gives up where there is no answer
}

/** What the transport of an address itself has found out. */
function ownFailure(reason: unknown): CrabError | undefined {
  const cause = reason instanceof CrabError ? reason : (reason as Error | undefined)?.cause
  return cause instanceof CrabError && cause.kind !== 'unavailable' ? cause : undefined
}

/** Some fail at a question they do not know, with a 5xx say, where they should refuse it. */
function isBroken({ kind }: CrabError, { refusedWith }: ServerLink): boolean {
  return kind === 'failed' && refusedWith === undefined
}

function toRefusal(reason: unknown): CrabError {
  const words = toPrintableLine(reason instanceof Error ? reason.message : String(reason))
  return new CrabError('unavailable', `it could not be talked to: ${words}`, { cause: reason })
}

/** Listens to a signal that may live long, until it is disposed. */
function followAbort(signal: AbortSignal): Disposable & { cancelled: Promise<{ cancelled: CrabError }> } {
  const { promise: cancelled, resolve } = Promise.withResolvers<{ cancelled: CrabError }>()
  const onAbort = () => resolve({ cancelled: toCancelledError(signal) })
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return { cancelled, [Symbol.dispose]: () => signal.removeEventListener('abort', onAbort) }
}

/** About what servers take to start. */
const PATIENCE_MS = 250
