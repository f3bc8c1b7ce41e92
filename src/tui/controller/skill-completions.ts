import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { CommandEntry } from '../text/menu.ts'
import { cleanLine } from '../view/clean.ts'

export interface SkillCompletionsOptions {
  dispatch: Dispatch
  /** Whose skills they are, now. */
  agent(): string
  /** The commands of the chat: a skill of such a name is offered as `/skill:name`. */
  commands(): readonly CommandEntry[]
}

/** The skills of the agent as the prompt's menu offers them, behind the commands. */
export class SkillCompletions {
  readonly #options: SkillCompletionsOptions
  #known: { agent: string; entries: readonly CommandEntry[] } = { agent: '', entries: [] }

  constructor(options: SkillCompletionsOptions) {
    this.#options = options
  }

  /** Those that are known by now. */
  get entries(): readonly CommandEntry[] {
    return this.#known.agent === this.#options.agent() ? this.#known.entries : []
  }

  /** Looks for them anew; tells whether others are known than before. Never rejects. */
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
