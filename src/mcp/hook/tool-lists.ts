import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { ToolSpec } from '../../core/provider/types.ts'
import type { ToolGroup } from '../../core/runtime/hook.ts'
import type { Claim } from '../peers/peer.ts'
import type { Peers } from '../peers/peers.ts'
import { type AgentTool, listAgentTools, toSpecs } from '../tools/agent-tools.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/** The tools of an agent, named and filtered. */
export interface AgentToolList {
  /** In the order of the declarations and of the servers. */
  readonly tools: readonly AgentTool[]
  /** The same tools for the model: sorted, and the same object until something changes. */
  readonly specs: readonly ToolSpec[]
}

interface CachedToolList extends AgentToolList {
  generation: number
  filter: readonly string[]
}

/**
 * Caches the tool list of each agent by generation and filter, because identical bytes in every request keep
 * the caches of providers warm.
 */
export class ToolLists {
  readonly #peers: Pick<Peers, 'getClaims' | 'getGeneration'>
  readonly #cache = new Map<string, CachedToolList>()
  readonly #counts = new Map<string, number>()

  constructor(peers: Pick<Peers, 'getClaims' | 'getGeneration'>) {
    this.#peers = peers
  }

  /** Returns how often a list was built for an agent. */
  getCount(agentId: string): number {
    return this.#counts.get(agentId) ?? 0
  }

  /** Returns the tools for these claims, which may be older than those in force. */
  get({ id, tools: filter }: AgentConfig, claimed: readonly Claim[]): AgentToolList {
    const generation = this.#peers.getGeneration(id)
    const isInForce = this.#peers.getClaims(id) === claimed
    const known = this.#cache.get(id)
    if (isInForce && known?.generation === generation && isSame(known.filter, filter)) return known
    const list = make(claimed, filter)
    this.#counts.set(id, this.getCount(id) + 1)
    if (isInForce) this.#cache.set(id, { ...list, generation, filter })
    return list
  }

  /** Drops the cached list of an agent that is unregistered. */
  forget(agentId: string): void {
    this.#cache.delete(agentId)
    this.#counts.delete(agentId)
  }
}

function make(claimed: readonly Claim[], filter: readonly string[]): AgentToolList {
  const all = listAgentTools(claimed.map(({ entry, peer }) => ({ entry, list: peer.list })))
  const tools = filter.length === 0 ? all : all.filter(({ name }) => filter.includes(name))
  const names = claimed.map(({ entry }) => entry.name)
  return { tools, specs: toSpecs(names, tools) }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}

/**
 * Creates the group of a server's tools among those of its agent; title and description come from the server
 * if it has any.
 */
export function toGroup({ entry, peer }: Claim, tools: readonly AgentTool[]): ToolGroup {
  const own = tools.filter((tool) => tool.entry.name === entry.name)
  const { title = '', description = '', instructions = '' } = peer.memory.about ?? {}
  return {
    id: `mcp:${entry.name}`,
    title: title || `MCP server ${entry.name}`,
    description: description || describeTools(own),
    ...(instructions !== '' && { instructions }),
    tools: own.map(({ name }) => name),
    server: entry.name,
  }
}

/** Describes a server that does not describe itself. */
function describeTools(tools: readonly AgentTool[]): string {
  const named = tools.slice(0, MAX_NAMED).map(({ tool }) => toPrintableLine(tool.name))
  const more = tools.length > MAX_NAMED ? ` and ${tools.length - MAX_NAMED} more` : ''
  return `Has the tools ${named.join(', ')}${more}`
}

const MAX_NAMED = 8
