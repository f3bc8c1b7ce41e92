import { isDeepStrictEqual } from 'node:util'
import { type CrabError, toCrabError } from '../core/base/errors.ts'
import type { Log } from '../core/base/log.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { AgentStore } from '../core/config/agents.ts'
import type { FileIssue } from '../core/config/validation-issue.ts'
import type { Hook } from '../core/runtime/hook.ts'
import type { KnownAgents } from '../core/runtime/known-agents.ts'

export interface AgentSyncOptions {
  agents: AgentStore
  hook: Hook
  known: KnownAgents
  log: Log
}

/** What reading all agents again came to. */
export interface AgentDiff {
  /** Names of the agents that are new, gone, or not what they were. */
  changed: readonly string[]
  /** What is wrong with the files that are no agents. */
  problems: readonly FileIssue[]
}

/**
 * Keeps what hooks know of agents in line with their files, so that their MCP servers run before a turn needs them. One
 * change after another; nobody waits for a server.
 *
 * Until syncAll() it does so only for agents that had a turn in this process.
 */
export class AgentSync {
  readonly #options: AgentSyncOptions
  #isKeepingAll = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: AgentSyncOptions) {
    this.#options = options
  }

  /** From now on every agent of the home is known; what is wrong with files is told the log. */
  async syncAll(): Promise<void> {
    this.#isKeepingAll = true
    const { problems } = await this.reload()
    for (const { file, line, message } of problems) this.#options.log('warn', `${file}:${line}: ${message}`)
  }

  /** Reads all agents. One whose file is broken stays what it was. Fails with `storage`. */
  reload(): Promise<AgentDiff> {
    return this.#inTurn(async () => {
      const { agents, known } = this.#options
      const before = known.all()
      const { agents: stored, problems } = await agents.list()
      const broken = new Set(problems.map(({ file }) => file))
      const removed = before.filter(({ id, name }) => {
        return !broken.has(`agents/${name}.toml`) && stored.every((agent) => agent.id !== id)
      })
      const now = stored.map((agent) => this.#built(agent))
      const changed = now.filter(
        (agent) =>
          !isDeepStrictEqual(
            agent,
            before.find(({ id }) => id === agent.id),
          ),
      )
      const wanted = changed.filter(({ id }) => this.#isWanted(id))
      await Promise.all(wanted.map((agent) => this.#tell(() => known.register(agent))))
      for (const { id } of removed) await this.#tell(() => known.unregister(id)) // last: what the others share stays
      return { changed: [...removed, ...wanted].map(({ name }) => name), problems }
    })
  }

  /** An agent is new, has another name, or something in its file has changed. Gives why the hooks could not be told. Never fails. */
  changed(name: string): Promise<CrabError | undefined> {
    return this.#inTurn(async () => {
      const { agents, known } = this.#options
      return await this.#tell(async () => {
        const agent = this.#built(await agents.get(name, { create: false }))
        if (this.#isWanted(agent.id)) await known.register(agent)
      })
    })
  }

  /** Components have come, gone or moved: agents that ask for some have others now. Never fails. */
  componentsChanged(): Promise<void> {
    return this.#inTurn(async () => {
      const { agents, known } = this.#options
      for (const { name } of known.all().filter(({ components = false }) => components !== false)) {
        await this.#tell(async () => known.register(this.#built(await agents.get(name, { create: false }))))
      }
    })
  }

  /** An agent was deleted. Never fails. */
  async gone(id: string): Promise<void> {
    await this.#inTurn(() => this.#tell(() => this.#options.known.unregister(id)))
  }

  /** Resolves when nothing is under way. Never rejects. */
  async settled(): Promise<void> {
    await this.#last
  }

  #isWanted(id: string): boolean {
    return this.#isKeepingAll || this.#options.known.all().some((agent) => agent.id === id)
  }

  #built(agent: AgentConfig): AgentConfig {
    return this.#options.hook.onBuildAgent?.(agent) ?? agent
  }

  /** What cannot be told now is told by the next turn of the agent. */
  async #tell(tell: () => Promise<void>): Promise<CrabError | undefined> {
    try {
      await tell()
      return undefined
    } catch (reason) {
      const error = toCrabError(reason)
      this.#options.log('warn', error.message)
      return error
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => undefined) // whoever asked for it is told
    return mine
  }
}
