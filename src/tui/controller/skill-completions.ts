import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { CommandEntry } from '../text/menu.ts'
import { cleanLine } from '../view/clean.ts'

export interface SkillCompletionsOptions {
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
    const taken = new Set(this.#options.commands().flatMap(({ name, aliases = [] }) => [name, ...aliases]))
    const entries = found.skills.map(({ name, description }) => ({
      name: taken.has(name.toLowerCase()) ? `skill:${name}` : name,
      args: '[…]',
      summary: cleanLine(description),
    }))
    this.#known = { agent, entries }
    return JSON.stringify(this.entries) !== before
  }
}
