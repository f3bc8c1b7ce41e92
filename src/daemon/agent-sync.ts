import { isDeepStrictEqual } from 'node:util'
import { type CrabError, toCrabError } from '../core/base/errors.ts'
import type { Log } from '../core/base/log.ts'
import { Serial } from '../core/base/serial.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { AgentStore } from '../core/config/agents.ts'
import type { FileIssue } from '../core/config/validation-issue.ts'
import type { Hook } from '../core/runtime/hook.ts'
import type { KnownAgents } from '../core/runtime/known-agents.ts'

/** The dependencies of an agent sync. */
export interface AgentSyncOptions {
  agents: AgentStore
  hook: Hook
  known: KnownAgents
  log: Log
}

/** The result of re-reading the agent files. */
export interface AgentDiff {
  /** The names of the agents that were added, removed or changed. */
  changed: readonly string[]
  /** The issues of the files that do not hold a valid agent. */
  problems: readonly FileIssue[]
}

/**
 * Keeps the agents registered with hooks in sync with their files, so that MCP servers are running before a
 * turn needs them. Changes are applied one after another, and none of them waits for a server to start.
 *
 * Until `syncAll()`, only agents that had a turn in this process are synced.
 */
export class AgentSync {
  readonly #options: AgentSyncOptions
  #syncsAll = false
  readonly #changes = new Serial()

  constructor(options: AgentSyncOptions) {
    this.#options = options
  }

  /** Registers every agent of the home from now on, and logs the issues of agent files as warnings. */
  async syncAll(): Promise<void> {
    this.#syncsAll = true
    const { problems } = await this.reload()
    for (const { file, line, message } of problems) this.#options.log('warn', `${file}:${line}: ${message}`)
  }

  /**
   * Re-reads all agents. An agent whose file is broken keeps its previous configuration. Fails with
   * `storage`.
   */
  reload(): Promise<AgentDiff> {
    return this.#changes.run(async () => {
      const { agents, known } = this.#options
      const before = known.all()
      const { agents: stored, problems } = await agents.list()
      const broken = new Set(problems.map(({ file }) => file))
      const removed = before.filter(({ id, name }) => {
        return !broken.has(`agents/${name}.toml`) && stored.every((agent) => agent.id !== id)
      })
      const now = stored.map((agent) => this.#toBuilt(agent))
      const changed = now.filter(
        (agent) =>
          !isDeepStrictEqual(
            agent,
            before.find(({ id }) => id === agent.id),
          ),
      )
      const updated = changed.filter(({ id }) => this.#isSynced(id))
      await Promise.all(updated.map((agent) => this.#logFailure(() => known.register(agent))))
      // last, so that servers shared with the remaining agents keep running
      for (const { id } of removed) await this.#logFailure(() => known.unregister(id))
      return { changed: [...removed, ...updated].map(({ name }) => name), problems }
    })
  }

  /**
   * Registers an agent that is new, renamed or whose file changed. Returns the error when hooks could not be
   * updated. Never fails.
   */
  changed(name: string): Promise<CrabError | undefined> {
    return this.#changes.run(async () => {
      const { agents, known } = this.#options
      return await this.#logFailure(async () => {
        const agent = this.#toBuilt(await agents.get(name, { create: false }))
        if (this.#isSynced(agent.id)) await known.register(agent)
      })
    })
  }

  /**
   * Registers the agents that use components again, after components were added, removed or moved. Never
   * fails.
   */
  componentsChanged(): Promise<void> {
    return this.#changes.run(async () => {
      const { agents, known } = this.#options
      for (const { name } of known.all().filter(({ components = false }) => components !== false)) {
        await this.#logFailure(async () =>
          known.register(this.#toBuilt(await agents.get(name, { create: false }))),
        )
      }
    })
  }

  /** Unregisters a deleted agent. Never fails. */
  async gone(id: string): Promise<void> {
    await this.#changes.run(() => this.#logFailure(() => this.#options.known.unregister(id)))
  }

  /** Resolves when no change is in progress. Never rejects. */
  async settled(): Promise<void> {
    await this.#changes.settled()
  }

  #isSynced(id: string): boolean {
    return this.#syncsAll || this.#options.known.all().some((agent) => agent.id === id)
  }

  #toBuilt(agent: AgentConfig): AgentConfig {
    return this.#options.hook.onBuildAgent?.(agent) ?? agent
  }

  /** Logs a failure instead of throwing it: the agent's next turn registers it again. */
  async #logFailure(update: () => Promise<void>): Promise<CrabError | undefined> {
    try {
      await update()
      return undefined
    } catch (reason) {
      const error = toCrabError(reason)
      this.#options.log('warn', error.message)
      return error
    }
  }
}
