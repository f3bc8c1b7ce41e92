import { CrabError } from '../base/errors.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { findNameClash } from '../config/mcp-declaration.ts'
import type { McpEntry } from '../config/mcp-entry.ts'
import type { Hook } from './hook.ts'
import { KnownAgents } from './known-agents.ts'

/** Conversations that keep the servers which a client attached to them; one more forgets the longest unused. */
const MAX_SESSIONS = 32

/**
 * MCP servers that clients attach to a conversation for a while, besides those of its agent; no file knows of them.
 *
 * Hooks see an agent of its own for each such conversation, so that its servers are nobody else's, but for identical ones.
 */
export class SessionServers {
  readonly #known: KnownAgents
  /** Ids of those agents, longest unused first. */
  readonly #ids = new Set<string>()

  constructor(hook: Pick<Hook, 'onRegisterAgent' | 'onUnregisterAgent'>) {
    this.#known = new KnownAgents(hook)
  }

  /** The agent as its tools know it in a conversation. Throws `invalid` for a server whose name the agent has already. */
  async attach(agent: AgentConfig, sender: string, mcps: readonly McpEntry[]): Promise<AgentConfig> {
    const all: McpEntry[] = [...agent.mcps]
    for (const entry of mcps) {
      if (findNameClash(all, entry.name) !== undefined) throw isTaken(agent, entry)
      all.push(entry)
    }
    const id = toScopeId(agent, sender)
    this.#ids.delete(id)
    this.#ids.add(id)
    const own = { ...agent, id, mcps: all }
    await this.#known.register(own)
    const [oldest] = this.#ids
    if (this.#ids.size > MAX_SESSIONS && oldest !== undefined) await this.#forget(oldest)
    return own
  }

  /** Ends what was attached to a conversation; turns that use it keep it until they are over. */
  async detach(agent: AgentConfig, sender: string): Promise<void> {
    await this.#forget(toScopeId(agent, sender))
  }

  async forgetAll(): Promise<void> {
    for (const id of this.#ids) await this.#forget(id)
  }

  async #forget(id: string): Promise<void> {
    if (this.#ids.delete(id)) await this.#known.unregister(id)
  }
}

/** No agent's own id has a colon. */
function toScopeId({ id }: AgentConfig, sender: string): string {
  return `${id}:${sender}`
}

function isTaken({ name }: AgentConfig, entry: McpEntry): CrabError {
  return new CrabError(
    'invalid',
    `Cannot attach the server "${entry.name}": the agent "${name}" has one of that name`,
    {
      hint: 'give it another name',
    },
  )
}
