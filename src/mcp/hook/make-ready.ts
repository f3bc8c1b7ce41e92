import { toCancelledError } from '../../core/base/abortable.ts'
import { withDeadline } from '../../core/base/deadline.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { toInvalidEntryError } from '../../core/config/mcp-declaration.ts'
import type { ToolsTurn } from '../../core/runtime/hook.ts'
import type { Claim, Peer } from '../peers/peer.ts'
import type { Peers } from '../peers/peers.ts'
import { toEvent } from '../peers/server-events.ts'
import { toUnavailable } from '../peers/tool-call.ts'
import type { DroppedTool } from '../tools/remote-tool.ts'

/** The options of `makeToolsReady()`. */
export interface OfferOptions {
  peers: Peers
  agent: AgentConfig
  /** The claims of the agent. */
  claimed: readonly Claim[]
  /** Returns the tools of a server that cannot be offered, unless this agent was notified of them before. */
  takeDropped(peer: Peer): readonly DroppedTool[]
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Prepares the tools of an agent for a turn. Waits, in parallel, for servers whose tools are not known, but
 * only once: a server that failed recently gets half a second if it may be started again, and continues in the
 * background. Notices name the servers and tools that are missing.
 *
 * A required server is always waited for. Throws `unavailable` when it cannot be used, or as the signal does.
 */
export async function makeToolsReady(options: OfferOptions, turn: ToolsTurn): Promise<void> {
  const { peers, agent, claimed } = options
  using _listening = peers.listen((event) => {
    if (event.agent === agent.name) turn.emit({ type: 'mcp-state', server: event })
  })
  const failures = await Promise.all(claimed.map((claim) => makeReady(claim, options, turn)))
  for (const invalid of agent.invalidMcps ?? []) {
    const { message, hint } = toInvalidEntryError(invalid)
    turn.emit({
      type: 'notice',
      message: `${message}; its tools are left out (${hint})`,
      server: invalid.name,
    })
  }
  for (const [i, { entry, peer }] of claimed.entries()) {
    const failure = failures[i]
    if (failure)
      turn.emit({
        type: 'notice',
        message: describeMissing(entry.name, failure, agent.name),
        server: entry.name,
      })
    const dropped = options.takeDropped(peer).filter(({ isSound = false }) => !isSound)
    if (dropped.length > 0)
      turn.emit({ type: 'notice', message: describeDropped(entry.name, dropped), server: entry.name })
  }
}

/** Returns why a server has no tools, or undefined when it has. */
async function makeReady(
  claim: Claim,
  { now }: OfferOptions,
  turn: ToolsTurn,
): Promise<CrabError | undefined> {
  const { peer, entry } = claim
  if (entry.required) return await requireServer(claim, turn)
  if (peer.state === 'invalid') return peer.error
  if (peer.list) return undefined
  const { failure } = peer.memory
  const age = now() - (failure?.at ?? 0) // negative when the clock was set back
  const isRecent = age >= 0 && age < RECENT_FAILURE_MS
  if (failure && (isRecent || (peer.failures.error && peer.retriesItself))) {
    peer.start()
    if (await isBackSoon(peer, turn.signal)) return undefined
    return peer.failures.error ?? toOldFailure(peer, age)
  }
  notifyStart(claim, turn, now())
  return await waitFor(peer, turn.signal)
}

/** Waits a moment for a server that is starting again; returns whether its tools are known then. */
async function isBackSoon(peer: Peer, signal: AbortSignal): Promise<boolean> {
  if (peer.state !== 'connecting') return false
  const deadline = { ms: COMING_BACK_MS, toError: () => new CrabError('timeout', 'it is not back yet') }
  try {
    await withDeadline((soon) => peer.connect({}, soon), deadline, signal)
    return true
  } catch {
    if (signal.aborted) throw toCancelledError(signal)
    return false // the caller tells why, from the failures of the server
  }
}

/** Returns the failure of a server in an earlier process, with its age. */
function toOldFailure({ error }: Peer, age: number): CrabError {
  const { kind, message, hint } = error!
  return new CrabError(kind, `${message}, ${formatAge(age)} ago`, hint === undefined ? {} : { hint })
}

/** Waits at most the startup time of the server, including the wait for a slot; the start itself continues. */
async function waitFor(peer: Peer, signal: AbortSignal): Promise<CrabError | undefined> {
  const { startupMs } = peer
  const why = `it had to wait for other servers and was not ready within ${startupMs / 1000} s`
  const deadline = { ms: startupMs + GRACE_MS, toError: () => new CrabError('timeout', why) }
  try {
    await withDeadline((soon) => peer.connect({}, soon), deadline, signal)
    return undefined
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    return toCrabError(reason)
  }
}

async function requireServer({ peer, entry, agent }: Claim, { signal }: ToolsTurn): Promise<undefined> {
  try {
    await peer.connect({ insist: true }, signal)
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    const { message, hint } = toUnavailable(entry.name, toCrabError(reason), agent)
    throw new CrabError('unavailable', `${message}; it is required`, { cause: reason, ...(hint && { hint }) })
  }
}

/** Emits `connecting` to a turn that waits for a server which is already starting. */
function notifyStart(claim: Claim, turn: ToolsTurn, at: number): void {
  const { peer } = claim
  if (peer.mayInstall) {
    const message = `The MCP server "${claim.entry.name}" is starting for the first time and may have to be installed first`
    turn.emit({ type: 'notice', message, server: claim.entry.name, passing: true })
  }
  if (peer.state !== 'connecting') return
  turn.emit({
    type: 'mcp-state',
    server: toEvent({ kind: 'connecting', claims: peer.claims, claim, at }),
  })
}

function describeMissing(server: string, failure: CrabError, agent: string): string {
  const { message, hint } = toUnavailable(server, failure, agent)
  return `${message}; its tools are left out (${hint})`
}

function describeDropped(server: string, dropped: readonly DroppedTool[]): string {
  const named = dropped.slice(0, MAX_NAMED).map(({ name, why }) => `${name || 'an unnamed tool'} (${why})`)
  const more = dropped.length > MAX_NAMED ? ` and ${dropped.length - MAX_NAMED} more` : ''
  return `The MCP server "${server}" has tools that cannot be used: ${named.join(', ')}${more}`
}

function formatAge(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

/** The time after a failure during which a turn does not wait for the server. */
const RECENT_FAILURE_MS = 300_000
/** The time a turn waits for a server that is starting again after a failure. */
const COMING_BACK_MS = 500
/** Added so that a server which got its slot immediately reports its own timeout. */
const GRACE_MS = 100
const MAX_NAMED = 5
