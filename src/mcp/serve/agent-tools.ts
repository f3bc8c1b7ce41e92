import { sha256 } from '../../core/base/sha256.ts'
import type { AgentInfo } from '../../core/protocol/crabtalk.generated.ts'

/** An agent that is offered as a tool. */
export interface ServedAgent {
  name: string
  description: string
  /** Empty for the default model. */
  model: string
  /** The name of its tool. */
  tool: string
}

/**
 * Sorts the agents and names their tools `send_<agent>`, of `[A-Za-z0-9_-]` and at most 48 characters,
 * because hosts put the server's name before them; where that loses characters, a hash keeps the names
 * unique.
 */
export function toServedAgents(agents: readonly AgentInfo[]): ServedAgent[] {
  const sorted = agents.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const usedNames = new Set<string>()
  return sorted.map(({ name, description, model }) => {
    const tool = toToolName(name, usedNames)
    usedNames.add(tool)
    return { name, description, model, tool }
  })
}

function toToolName(agent: string, usedNames: ReadonlySet<string>): string {
  const folded = agent.replace(/[^A-Za-z0-9_-]/gu, '_')
  const name = `send_${folded}`
  if (folded === agent && name.length <= MAX_LENGTH && !usedNames.has(name)) return name
  const hash = sha256(agent).toString('hex').slice(0, HASH_LENGTH)
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`
}

const MAX_LENGTH = 48
const HASH_LENGTH = 8
