import { sha256 } from '../../core/base/sha256.ts'
import type { AgentInfo } from '../../core/protocol/crabtalk.generated.ts'

/** An agent that is offered. */
export interface ServedAgent {
  name: string
  description: string
  /** Empty: the default model. */
  model: string
  /** The tool that asks it. */
  tool: string
}

/**
 * The agents with the names of their tools, `send_<agent>`, sorted. Names are of `[A-Za-z0-9_-]` and have at most 48
 * characters, as hosts put the server's name before them; where that takes something away, a hash tells agents apart.
 */
export function toServedAgents(agents: readonly AgentInfo[]): ServedAgent[] {
  const sorted = agents.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const taken = new Set<string>()
  return sorted.map(({ name, description, model }) => {
    const tool = toToolName(name, taken)
    taken.add(tool)
    return { name, description, model, tool }
  })
}

function toToolName(agent: string, taken: ReadonlySet<string>): string {
  const folded = agent.replace(/[^A-Za-z0-9_-]/gu, '_')
  const name = `send_${folded}`
  if (folded === agent && name.length <= MAX_LENGTH && !taken.has(name)) return name
  const hash = sha256(agent).toString('hex').slice(0, HASH_LENGTH)
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`
}

const MAX_LENGTH = 48
const HASH_LENGTH = 8
