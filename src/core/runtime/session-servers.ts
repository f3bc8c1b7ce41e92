import { CrabError } from '../base/errors.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { findNameClash } from '../config/mcp-declaration.ts'
import type { McpEntry } from '../config/mcp-entry.ts'
import { getProjectServerFile, type ProjectServerFile } from '../config/project-server-file.ts'
import type { Hook } from './hook.ts'
import { KnownAgents } from './known-agents.ts'

/**
 * The most conversations that keep the servers a client attached to them; beyond it the least recently used
 * is evicted.
 */
const MAX_SESSIONS = 32

/**
 * MCP servers that clients attach to a conversation temporarily, in addition to those of its agent; they are
 * not stored in a file (ADR 0112).
 *
 * Hooks see a separate agent for each such conversation, so that it shares its servers only where their
 * declarations are identical.
 */
export class SessionServers {
  readonly #known: KnownAgents
  /** The ids of those agents, least recently used first. */
  readonly #ids = new Set<string>()

  constructor(hook: Pick<Hook, 'onRegisterAgent' | 'onUnregisterAgent'>) {
    this.#known = new KnownAgents(hook)
  }

  /**
   * Returns the agent with the attached servers. Throws `invalid` for a server whose name the agent already
   * uses.
   */
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

  /** Detaches the servers of a conversation; turns that use them keep them until they are over. */
  async detach(agent: AgentConfig, sender: string): Promise<void> {
    await this.#forget(toScopeId(agent, sender))
  }

  /**
   * Detaches the servers of all conversations that have one of a project's file that `isTrusted` denies; the next
   * turn of each attaches what its client still names.
   */
  async release(isTrusted: (file: ProjectServerFile) => boolean): Promise<void> {
    const released = this.#known.all().filter(({ mcps }) => {
      const files = mcps.flatMap((entry) => getProjectServerFile(entry) ?? [])
      return files.some((file) => !isTrusted(file))
    })
    for (const { id } of released) await this.#forget(id)
  }

  async forgetAll(): Promise<void> {
    for (const id of this.#ids) await this.#forget(id)
  }

  async #forget(id: string): Promise<void> {
    if (this.#ids.delete(id)) await this.#known.unregister(id)
  }
}

/** Builds the id of a conversation's agent. It cannot clash, because the id of a stored agent has no colon. */
function toScopeId({ id }: AgentConfig, sender: string): string {
  return `${id}:${sender}`
}

function isTaken({ name }: AgentConfig, entry: McpEntry): CrabError {
  return new CrabError(
    'invalid',
    `Cannot attach the server "${entry.name}": the agent "${name}" already has one of that name`,
    {
      hint: 'give it another name',
    },
  )
}
