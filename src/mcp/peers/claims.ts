import { isDeepStrictEqual } from 'node:util'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Peer } from './peer.ts'
import type { Claim } from './peer-types.ts'

/** A declaration that is in force, and the server behind it. */
export interface PeerClaim extends Claim {
  peer: Peer
}

/** What agents have declared, and when it changed. */
export class Claims {
  /** By the agent's id, in the order of declarations. */
  readonly #claimed = new Map<string, readonly PeerClaim[]>()
  readonly #generations = new Map<string, number>()
  readonly #turns = new Map<string, Promise<void>>()

  /** Ids of the agents that are registered. */
  agents(): string[] {
    return [...this.#claimed.keys()]
  }

  /** Undefined when the agent is not registered. */
  get(agentId: string): readonly PeerClaim[] | undefined {
    return this.#claimed.get(agentId)
  }

  /** All declarations of a server, of all agents. */
  byPeer(peer: Peer): PeerClaim[] {
    return [...this.#claimed.values()].flat().filter((claim) => claim.peer === peer)
  }

  /** Puts what an agent declares in the place of what it had; gives that. */
  replace(agentId: string, claimed: readonly PeerClaim[]): readonly PeerClaim[] {
    const before = this.get(agentId) ?? []
    this.#claimed.set(agentId, claimed)
    const isSame = isDeepStrictEqual(before.map(getClaimedEntry), claimed.map(getClaimedEntry))
    if (!isSame || before.some(({ peer }, i) => peer !== claimed[i]!.peer)) this.grow(agentId)
    return before
  }

  /** Forgets what an agent had; gives it. */
  remove(agentId: string): readonly PeerClaim[] {
    const before = this.get(agentId) ?? []
    this.#claimed.delete(agentId)
    return before
  }

  /** Whether an agent is registered just so. */
  isInForce({ id, name, mcps }: AgentConfig): boolean {
    const claimed = this.get(id)
    if (!claimed?.every(({ agent }) => agent === name)) return false
    return isDeepStrictEqual(claimed.map(getClaimedEntry), filterEnabled(mcps))
  }

  /** Grows whenever the tools of an agent may have changed. */
  getGeneration(agentId: string): number {
    return this.#generations.get(agentId) ?? 0
  }

  grow(agentId: string): void {
    this.#generations.set(agentId, this.getGeneration(agentId) + 1)
  }

  /** Makes one change of an agent at a time, in the order of the calls. */
  async inTurn(agentId: string, change: () => Promise<void>): Promise<void> {
    const mine = (this.#turns.get(agentId) ?? Promise.resolve()).then(change)
    const settled = mine.catch(() => undefined) // whoever asked for it is told
    this.#turns.set(agentId, settled)
    await mine.finally(() => this.#turns.get(agentId) === settled && this.#turns.delete(agentId))
  }
}

export function getClaimedEntry({ entry }: PeerClaim): McpEntry {
  return entry
}

/** The declarations that count. */
export function filterEnabled(entries: readonly McpEntry[]): McpEntry[] {
  return entries.filter(({ disabled = false }) => !disabled)
}
