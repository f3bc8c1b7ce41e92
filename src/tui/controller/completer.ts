import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import type { ChatEffect } from '../text/effects.ts'
import { type CommandEntry, tokenAt } from '../text/menu.ts'
import {
  type Completion,
  type Prompt,
  type PromptContext,
  withCommands,
  withCompletions,
} from '../text/prompt-state.ts'
import { cleanLine } from '../view/clean.ts'
import { ServerCompletions } from './server-completions.ts'
import type { Commands } from './slash.ts'

export interface CompleterOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'findFiles' | 'now'> & { dispatch: Dispatch }
  commands: Pick<Commands, 'list'>
  /** Aborted when the chat ends. */
  signal: AbortSignal
}

/**
 * Finds the entries of the prompt's menu: commands, skills, prompts and resources of MCP servers, files. A
 * new lookup aborts the previous one.
 */
export class Completer {
  readonly #options: CompleterOptions
  readonly #servers: ServerCompletions
  readonly #skills: SkillCompletions
  #lookup = new AbortController()

  constructor(options: CompleterOptions) {
    this.#options = options
    const { ports, store } = options
    const agent = () => store.get().agent
    this.#servers = new ServerCompletions({ dispatch: ports.dispatch, now: ports.now, agent })
    this.#skills = new SkillCompletions({
      dispatch: ports.dispatch,
      agent,
      commands: () => options.commands.list,
    })
  }

  /** The entries for the text after a slash that are known so far. */
  get commands(): NonNullable<PromptContext['commands']> {
    const skills = new Set(this.#skills.entries.map(({ name }) => name))
    const commands = this.#options.commands.list.filter(
      ({ name, yieldsToSkill }) => !yieldsToSkill || !skills.has(name),
    )
    return [...commands, ...this.#skills.entries, ...this.#servers.prompts]
  }

  /** Fills the menu with entries as they are found. */
  async complete({ kind, query }: ChatEffect & { type: 'complete' }): Promise<void> {
    this.#lookup.abort()
    this.#lookup = new AbortController()
    const until = AbortSignal.any([this.#lookup.signal, this.#options.signal])
    if (kind === 'command') await this.#findCommands(until)
    else await this.#findNames(query, until)
  }

  async #findCommands(until: AbortSignal): Promise<void> {
    const showNew = (isNew: boolean) => {
      if (isNew) this.#show((prompt) => withCommands(prompt, this.commands))
    }
    await Promise.all([
      this.#skills.find(until).then(showNew),
      this.#servers.findPrompts(until).then(showNew),
    ])
  }

  async #findNames(query: string, until: AbortSignal): Promise<void> {
    const finding = this.#servers.findResources(query, until)
    const [found, guests] = await Promise.all([
      this.#options.ports.findFiles(query, until),
      this.#findGuests(query, until),
    ])
    const files = [...guests, ...found]
    this.#show((prompt) => withCompletions(prompt, query, files))
    const resources = await finding
    const isNamed = resources.some(({ value }) => value.startsWith(query)) && query !== ''
    const all = isNamed ? [...resources, ...files] : [...files, ...resources]
    if (resources.length > 0 && !until.aborted) this.#show((prompt) => withCompletions(prompt, query, all))
  }

  /** Finds other agents, which a message may only name at its start. */
  async #findGuests(query: string, until: AbortSignal): Promise<Completion[]> {
    const { store, ports } = this.#options
    const { agent, prompt } = store.get()
    if (tokenAt(prompt)?.start !== 0) return []
    const { findGuests } = await import('./guests.ts')
    return findGuests(query, { dispatch: ports.dispatch, agent }, until)
  }

  #show(change: (prompt: Prompt) => Prompt): void {
    const { store } = this.#options
    store.act({ type: 'set', change: { prompt: change(store.get().prompt) } })
  }
}

interface SkillCompletionsOptions {
  dispatch: Dispatch
  /** Returns the agent whose skills are listed. */
  agent(): string
  /** Returns the commands of the chat. A skill with the name of a command is offered as `/skill:name`. */
  commands(): readonly CommandEntry[]
}

/** The agent's skills as the prompt's menu offers them, after the commands. */
export class SkillCompletions {
  readonly #options: SkillCompletionsOptions
  #known: { agent: string; entries: readonly CommandEntry[] } = { agent: '', entries: [] }

  constructor(options: SkillCompletionsOptions) {
    this.#options = options
  }

  /** The skills that are known so far. */
  get entries(): readonly CommandEntry[] {
    return this.#known.agent === this.#options.agent() ? this.#known.entries : []
  }

  /** Looks for skills again. Returns whether the known skills have changed. Never rejects. */
  async find(signal: AbortSignal): Promise<boolean> {
    const agent = this.#options.agent()
    const before = JSON.stringify(this.entries)
    const found = await request(this.#options.dispatch, 'listSkills', { agent }, signal).catch(
      () => undefined,
    )
    if (!found || signal.aborted) return false
    const taken = new Set(
      this.#options
        .commands()
        .filter(({ yieldsToSkill }) => !yieldsToSkill)
        .flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    )
    const entries = found.skills.map(({ name, description }) => ({
      name: taken.has(name.toLowerCase()) ? `skill:${name}` : name,
      args: '[…]',
      summary: cleanLine(description),
    }))
    this.#known = { agent, entries }
    return JSON.stringify(this.entries) !== before
  }
}
