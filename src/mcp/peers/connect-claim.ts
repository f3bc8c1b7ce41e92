import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { findAgentServer } from '../../core/config/mcp-declaration.ts'
import type { Connection } from '../connection/connection.ts'
import type { DeclarationOwner } from '../types.ts'
import type { Claim } from './peer.ts'
import type { Peers } from './peers.ts'
import { toUnavailable } from './tool-call.ts'

/** One declaration of an agent, by the agent's name for the server. */
interface Declaration {
  agent: AgentConfig
  name: string
}

/**
 * Returns the claim of a declaration, after registering the agent if this version of it is not in force.
 * Throws `missing` for a name the agent does not declare, `config` for a disabled one.
 */
export async function getClaim(peers: Peers, agent: AgentConfig, name: string): Promise<Claim> {
  const entry = findAgentServer(agent, name)
  if (entry.disabled)
    throw new CrabError('config', `Cannot use the MCP server "${name}": it is disabled`, {
      hint: `crabtalk mcp enable ${name}`,
    })
  await peers.ensure(agent)
  return peers.getClaims(agent.id)!.find((claim) => claim.entry.name === name)!
}

/** Returns the claim of a declaration with its connection, starting the server regardless of its back-off. */
export async function connectClaim(
  peers: Peers,
  { agent, name }: Declaration,
  signal: AbortSignal,
): Promise<Claim & { connection: Connection }> {
  const claim = await getClaim(peers, agent, name)
  const connecting = claim.peer.connect({ insist: true }, signal)
  return { ...claim, connection: await withServerName({ agent: agent.name, name }, connecting, signal) }
}

/** Rethrows a failure as a sentence that names the server; refusals and timeouts become `unavailable` too. */
export async function withServerName<T>(
  { agent, name }: DeclarationOwner,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    throw toUnavailable(name, toCrabError(reason), agent)
  }
}
