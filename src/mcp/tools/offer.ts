import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { ToolsTurn } from '../../core/runtime/hook.ts'
import { toEvent } from '../peers/owner-event.ts'
import type { Peer } from '../peers/peer.ts'
import type { Claimed, Peers } from '../peers/peers.ts'
import type { DroppedTool } from './remote-tool.ts'
import { toUnavailable } from './tool-call.ts'

/** What an offer is made from. */
export interface OfferOptions {
  peers: Peers
  agent: AgentConfig
  /** Its declarations. */
  claimed: readonly Claimed[]
  /** The tools of a server that cannot be offered, unless this agent was told. */
  takeDropped(peer: Peer): readonly DroppedTool[]
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Makes ready what an agent gets for a turn. Waits for servers whose tools nobody knows, all at once, and only once: one that
 * failed lately is started in the background. What is missing is said in notices.
 *
 * A server that is required is always waited for. Fails with `unavailable` when it cannot be used, or as the signal says.
 */
export async function makeToolsReady(options: OfferOptions, turn: ToolsTurn): Promise<void> {
  const { peers, agent, claimed } = options
  using _listening = peers.listen((event) => {
    if (event.agent === agent.name) turn.tell({ type: 'mcp-state', server: event })
  })
  const failures = await Promise.all(claimed.map((claim) => makeReady(claim, options, turn)))
  for (const [i, { entry, peer }] of claimed.entries()) {
    const failure = failures[i]
    if (failure)
      turn.tell({
        type: 'notice',
        message: describeMissing(entry.name, failure, agent.name),
        server: entry.name,
      })
    const dropped = options.takeDropped(peer).filter(({ isSound = false }) => !isSound)
    if (dropped.length > 0)
      turn.tell({ type: 'notice', message: describeDropped(entry.name, dropped), server: entry.name })
  }
}

/** Gives why there are no tools of a server, if there are none. */
async function makeReady(
  claim: Claimed,
  { now }: OfferOptions,
  turn: ToolsTurn,
): Promise<CrabError | undefined> {
  const { peer, entry } = claim
  if (entry.required) return await insist(claim, turn)
  if (peer.state === 'invalid') return peer.error
  if (peer.list) return undefined
  const { failure } = peer.memory
  const age = now() - (failure?.at ?? 0) // negative when somebody set the clock back
  if (failure && age >= 0 && age < FORGIVEN_MS) {
    peer.start()
    return peer.failures.error ?? new CrabError('unavailable', `${failure.why}, ${ago(age)} ago`)
  }
  notifyStart(claim, turn, now())
  return await waitFor(peer, turn.signal)
}

/** A turn waits for as long as the server may take to start, also where others start first; the start goes on. */
async function waitFor(peer: Peer, signal: AbortSignal): Promise<CrabError | undefined> {
  const late = new AbortController()
  const { startupMs } = peer
  const tooLong = new CrabError('timeout', `it had no turn to start within ${startupMs / 1000} s`)
  const timer = setTimeout(() => late.abort(tooLong), startupMs + MARGIN_MS)
  try {
    await peer.connect({}, AbortSignal.any([signal, late.signal]))
    return undefined
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    return toCrabError(reason)
  } finally {
    clearTimeout(timer)
  }
}

async function insist({ peer, entry, agent }: Claimed, { signal }: ToolsTurn): Promise<undefined> {
  try {
    await peer.connect({ insist: true }, signal)
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    const { message, hint } = toUnavailable(entry.name, toCrabError(reason), agent)
    throw new CrabError('unavailable', `${message}; it is required`, { cause: reason, ...(hint && { hint }) })
  }
}

/** Whoever begins to wait for a server that others have started hears of it too. */
function notifyStart({ peer, ...claim }: Claimed, turn: ToolsTurn, at: number): void {
  if (peer.mayInstall) {
    const message = `The MCP server "${claim.entry.name}" starts for the first time and may have to be installed`
    turn.tell({ type: 'notice', message, server: claim.entry.name, passing: true })
  }
  if (peer.state !== 'connecting') return
  turn.tell({
    type: 'mcp-state',
    server: toEvent({ peer, kind: 'connecting', claims: peer.claims, claim, at }),
  })
}

function describeMissing(server: string, failure: CrabError, agent: string): string {
  const { message, hint } = toUnavailable(server, failure, agent)
  return `${message}; its tools are left out (${hint})`
}

function describeDropped(server: string, dropped: readonly DroppedTool[]): string {
  const named = dropped.slice(0, MAX_NAMED).map(({ name, why }) => `${name || 'one without a name'} (${why})`)
  const more = dropped.length > MAX_NAMED ? ` and ${dropped.length - MAX_NAMED} more` : ''
  return `The MCP server "${server}" has tools that cannot be used: ${named.join(', ')}${more}`
}

function ago(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

/** For how long a server that failed is not waited for. */
const FORGIVEN_MS = 300_000
/** A server that began at once says itself that it took too long. */
const MARGIN_MS = 100
const MAX_NAMED = 5
