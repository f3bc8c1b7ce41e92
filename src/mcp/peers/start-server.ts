import { basename } from 'node:path'
import { toCancelledError } from '../../core/base/abortable.ts'
import { withDeadline } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import { Semaphore } from '../../core/base/semaphore.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { connectServer, type HttpVariant, type ServerConnectOptions } from '../connection/connect.ts'
import type { Connection, Era } from '../connection/connection.ts'
import type { ServerTarget } from '../fingerprint.ts'
import type { ToolList } from '../tools/remote-tool.ts'
import type { PeerMemory } from './server-memory.ts'

/** The options of `startServer()`. */
export interface StartOptions extends ServerConnectOptions {
  /** Limits concurrent starts of programs; undefined for a remote server. */
  slots: StartSlots | undefined
  /** Whether the program may have to be downloaded first. */
  mayInstall: boolean
  /** Returns the last meaningful line of its standard error; empty when there is none. */
  lastWords(): string
}

/** A connected server and its tools. */
export interface StartedServer {
  connection: Connection
  list: ToolList
}

/**
 * Waits for a slot, starts a server, connects and reads its list within `startupMs`. Throws `unavailable`,
 * saying in lower case what happened, or as the signal does.
 */
export async function startServer(options: StartOptions, signal: AbortSignal): Promise<StartedServer> {
  const { slots, needed, mayInstall } = options
  using _installing = mayInstall ? await slots?.installing.take({ urgent: needed, signal }) : undefined
  using _slot = await slots?.any.take({ urgent: needed, signal })
  const deadline = { ms: options.startupMs, toError: () => toTimeoutError(options) }
  try {
    return await withDeadline((soon) => connectAndList(options, soon), deadline, signal)
  } catch (reason) {
    throw toFailedStart(reason, signal)
  }
}

async function connectAndList(options: StartOptions, signal: AbortSignal): Promise<StartedServer> {
  const connection = await connectServer(options, signal)
  try {
    return { connection, list: await connection.listTools(signal).catch(nameListing) }
  } catch (reason) {
    void connection.close()
    throw reason
  }
}

/** Says which request the server refused. */
function nameListing(reason: unknown): never {
  if (!(reason instanceof CrabError) || reason.kind !== 'tool') throw reason
  throw new CrabError('tool', `it refused tools/list: ${reason.message}`, { cause: reason })
}

function toTimeoutError({ startupMs, lastWords }: StartOptions): CrabError {
  const words = lastWords()
  const suffix = words === '' ? '' : `; its last output was: ${words}`
  return new CrabError('timeout', `it was not ready within ${startupMs / 1000} s${suffix}`, {
    hint: 'raise startup_timeout_ms if it needs more time',
  })
}

/** Converts a failed start (program not found, timeout, refusal) to `unavailable`; `credentials` stays. */
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

type Plan = Pick<
  ServerConnectOptions,
  'era' | 'onSilentExit' | 'variant' | 'fallback' | 'onFallback' | 'probeMs'
>

/** Chooses the era and transport for a server: from its target, from memory, or from the last attempt. */
export class TransportMemory {
  readonly #target: ServerTarget
  #current: HttpVariant = 'streamable'
  /**
   * The era assumed after it ended without a message, so that each start of a broken server runs it only
   * once.
   */
  #supposed: Era | undefined

  constructor(target: ServerTarget) {
    this.#target = target
  }

  /** The transport that was used last. */
  get current(): HttpVariant {
    return this.#current
  }

  /**
   * Plans the next start. A server gets half of its startup time to answer the probe, since old ones may not
   * answer at all.
   */
  plan({ era, variant }: Pick<PeerMemory, 'era' | 'variant'>, startupMs: number): Plan {
    const { transport } = this.#target
    this.#current = transport === 'sse' ? 'sse' : variant
    const onSilentExit = () => {
      this.#supposed = 'legacy'
    }
    const spoken = { era: era ?? this.#supposed, onSilentExit, probeMs: startupMs / 2 }
    if (transport === 'stdio') return spoken
    const onFallback = (found: HttpVariant) => {
      this.#current = found
    }
    const fallback: HttpVariant = this.#current === 'sse' ? 'streamable' : 'sse'
    const tried = { variant: this.#current, ...(transport === 'http' && { fallback }), onFallback }
    return { ...spoken, ...tried }
  }
}

/** Limits how many servers of a node start concurrently. */
export interface StartSlots {
  any: Semaphore
  /** Limits those that may have to download their program first. */
  installing: Semaphore
}

export function newStartSlots(): StartSlots {
  return { any: new Semaphore(8), installing: new Semaphore(3) }
}

/** Whether a command downloads its program when it is not installed. */
export function isInstaller(target: ServerTarget): boolean {
  if (target.transport !== 'stdio') return false
  return INSTALLERS.has(basename(target.command.replaceAll('\\', '/')).replace(/\.(cmd|exe|ps1)$/i, ''))
}

/** Returns the time limit of a start in milliseconds: the longest of the declarations. */
export function startupLimit(entries: readonly McpEntry[], mayInstall: boolean): number {
  const usual = mayInstall ? INSTALLING_MS : USUAL_MS
  return Math.max(...entries.map(({ startup_timeout_ms: ms = usual }) => ms), 1)
}

/**
 * Returns how long, in milliseconds, a request waits when the server asks to be retried later: the longest
 * call timeout of the declarations.
 */
export function callLimit(entries: readonly McpEntry[]): number {
  return Math.max(...entries.map(({ timeout_ms: ms = CALL_TIMEOUT_MS }) => ms), 1)
}

/**
 * Returns after how many milliseconds an unused server is ended: the longest limit of the declarations;
 * undefined when one has none.
 */
export function idleLimit(entries: readonly McpEntry[]): number | undefined {
  const limits = entries.map(({ idle_timeout_ms: ms = Infinity }) => ms)
  const limit = Math.max(...limits, 1)
  return Number.isFinite(limit) ? limit : undefined
}

const INSTALLERS = new Set(['npx', 'uvx', 'bunx', 'pnpx'])
const USUAL_MS = 10_000
const INSTALLING_MS = 60_000
const CALL_TIMEOUT_MS = 60_000
