import { isDeepStrictEqual } from 'node:util'
import { Serial } from '../../core/base/serial.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Claim, Peer } from './peer.ts'

/** The declarations of the registered agents, each agent with a generation counter. */
export class Claims {
  /** Keyed by agent id, in the order of the declarations. */
  readonly #claimed = new Map<string, readonly Claim[]>()
  readonly #generations = new Map<string, number>()
  readonly #changes = new Map<string, Serial>()

  /** Returns the ids of the registered agents. */
  agents(): string[] {
    return [...this.#claimed.keys()]
  }

  /** Returns the claims of an agent; undefined when it is not registered. */
  get(agentId: string): readonly Claim[] | undefined {
    return this.#claimed.get(agentId)
  }

  /** Returns the claims of all agents on a server. */
  byPeer(peer: Peer): Claim[] {
    return [...this.#claimed.values()].flat().filter((claim) => claim.peer === peer)
  }

  /** Replaces the claims of an agent and returns the previous ones. */
  replace(agentId: string, claimed: readonly Claim[]): readonly Claim[] {
    const before = this.get(agentId) ?? []
    this.#claimed.set(agentId, claimed)
    const isSame = isDeepStrictEqual(before.map(getClaimedEntry), claimed.map(getClaimedEntry))
    if (!isSame || before.some(({ peer }, i) => peer !== claimed[i]!.peer)) this.incrementGeneration(agentId)
    return before
  }

  /** Removes the claims of an agent and returns them. */
  remove(agentId: string): readonly Claim[] {
    const before = this.get(agentId) ?? []
    this.#claimed.delete(agentId)
    return before
  }

  /** Whether exactly this version of an agent is registered. */
  isInForce({ id, name, mcps }: AgentConfig): boolean {
    const claimed = this.get(id)
    if (!claimed?.every(({ agent }) => agent === name)) return false
    return isDeepStrictEqual(claimed.map(getClaimedEntry), filterEnabled(mcps))
  }

  /** Returns a number that grows whenever the tools of an agent may have changed. */
  getGeneration(agentId: string): number {
    return this.#generations.get(agentId) ?? 0
  }

  /** Reports that the tools of an agent may have changed. */
  incrementGeneration(agentId: string): void {
    this.#generations.set(agentId, this.getGeneration(agentId) + 1)
  }

  /** Serializes the changes of an agent, in the order of the calls. */
  async serialize(agentId: string, change: () => Promise<void>): Promise<void> {
    const changes = this.#changes.get(agentId) ?? new Serial()
    this.#changes.set(agentId, changes)
    await changes.run(change).finally(() => changes.isIdle && this.#changes.delete(agentId))
  }
}

export function getClaimedEntry({ entry }: Claim): McpEntry {
  return entry
}

/** Returns the entries that are not disabled. */
export function filterEnabled(entries: readonly McpEntry[]): McpEntry[] {
  return entries.filter(({ disabled = false }) => !disabled)
}
