import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { ToolSpec } from '../../core/provider/types.ts'
import type { Claimed, Peers } from '../peers/peers.ts'
import { type AgentTool, listAgentTools, toSpecs } from './agent-tools.ts'

/** What an agent gets: named and filtered. */
export interface AgentToolList {
  /** In the order of declarations and of servers. */
  readonly tools: readonly AgentTool[]
  /** The same as a model sees them: sorted, and the very same list until something changes. */
  readonly specs: readonly ToolSpec[]
}

interface CachedToolList extends AgentToolList {
  generation: number
  filter: readonly string[]
}

/**
 * The tools of each agent, made once for each of its generations and filters: the same bytes again and again are what
 * keeps the caches of providers warm.
 */
export class ToolLists {
  readonly #peers: Pick<Peers, 'claimedBy' | 'generationOf'>
  readonly #cache = new Map<string, CachedToolList>()
  readonly #counts = new Map<string, number>()

  constructor(peers: Pick<Peers, 'claimedBy' | 'generationOf'>) {
    this.#peers = peers
  }

  /** How often a list was made for an agent. */
  getCount(agentId: string): number {
    return this.#counts.get(agentId) ?? 0
  }

  /** What the agent gets by these declarations; they may be older than those in force. */
  get({ id, tools: filter }: AgentConfig, claimed: readonly Claimed[]): AgentToolList {
    const generation = this.#peers.generationOf(id)
    const isInForce = this.#peers.claimedBy(id) === claimed
    const known = this.#cache.get(id)
    if (isInForce && known?.generation === generation && isSame(known.filter, filter)) return known
    const made = make(claimed, filter)
    this.#counts.set(id, this.getCount(id) + 1)
    if (isInForce) this.#cache.set(id, { ...made, generation, filter })
    return made
  }

  /** For an agent that is gone. */
  forget(agentId: string): void {
    this.#cache.delete(agentId)
    this.#counts.delete(agentId)
  }
}

function make(claimed: readonly Claimed[], filter: readonly string[]): AgentToolList {
  const all = listAgentTools(claimed.map(({ entry, peer }) => ({ entry, list: peer.list })))
  const tools = filter.length === 0 ? all : all.filter(({ name }) => filter.includes(name))
  const names = claimed.map(({ entry }) => entry.name)
  return { tools, specs: toSpecs(names, tools) }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}
