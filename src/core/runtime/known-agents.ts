import { isDeepStrictEqual } from 'node:util'
import { type Lazy, lazy } from '../base/lazy.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { Hook } from './hook.ts'

interface Registration {
  /** Undefined after it was unregistered. */
  agent: AgentConfig | undefined
  told: Lazy<void>
}

/** The agents that a hook was told of, each in the form it was told last: once for each form, one change after another. */
export class KnownAgents {
  readonly #hook: Pick<Hook, 'onRegisterAgent' | 'onUnregisterAgent'>
  readonly #known = new Map<string, Registration>()

  constructor(hook: Pick<Hook, 'onRegisterAgent' | 'onUnregisterAgent'>) {
    this.#hook = hook
  }

  /** Those that are registered, or are about to be, as they were built. */
  all(): AgentConfig[] {
    return [...this.#known.values()].flatMap(({ agent, told }) => (told.current && agent) ?? [])
  }

  /** Tells of an agent that is new or has another form; whoever needs it meanwhile waits. Fails as the hook does. */
  async register(agent: AgentConfig): Promise<void> {
    const known = this.#known.get(agent.id)
    const isSame = known?.agent !== undefined && isDeepStrictEqual(known.agent, agent)
    if (isSame) return await known.told.get()
    await this.#notify(agent.id, agent, () => this.#hook.onRegisterAgent?.(agent))
  }

  /** Tells that an agent is gone; nothing for one that is not registered. */
  async unregister(id: string): Promise<void> {
    const agent = this.#known.get(id)?.agent
    if (agent !== undefined) await this.#notify(id, undefined, () => this.#hook.onUnregisterAgent?.(agent))
  }

  async #notify(
    id: string,
    agent: AgentConfig | undefined,
    tell: () => Promise<void> | undefined,
  ): Promise<void> {
    const before = this.#known.get(id)?.told
    const told = lazy(async () => {
      await before?.current?.catch(() => undefined) // whoever asked for it is told
      await tell()
    })
    this.#known.set(id, { agent, told })
    await told.get()
  }
}
