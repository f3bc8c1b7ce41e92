import { isDeepStrictEqual } from 'node:util'
import { type Lazy, lazy } from '../base/lazy.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { Hook } from './hook.ts'

interface Registration {
  /** Undefined after it was unregistered. */
  agent: AgentConfig | undefined
  notification: Lazy<void>
}

/**
 * The agents that a hook was notified of, each in the form it was last given. The hook is notified once for
 * each new form of an agent, one change of an agent after another.
 */
export class KnownAgents {
  readonly #hook: Pick<Hook, 'onRegisterAgent' | 'onUnregisterAgent'>
  readonly #known = new Map<string, Registration>()

  constructor(hook: Pick<Hook, 'onRegisterAgent' | 'onUnregisterAgent'>) {
    this.#hook = hook
  }

  /** Returns the agents that are registered, or are being registered, as they were built. */
  all(): AgentConfig[] {
    return [...this.#known.values()].flatMap(
      ({ agent, notification }) => (notification.current && agent) ?? [],
    )
  }

  /**
   * Notifies the hook of an agent that is new or has changed; concurrent callers wait for the same
   * notification. Fails as the hook does.
   */
  async register(agent: AgentConfig): Promise<void> {
    const known = this.#known.get(agent.id)
    const isSame = known?.agent !== undefined && isDeepStrictEqual(known.agent, agent)
    if (isSame) return await known.notification.get()
    await this.#notify(agent.id, agent, () => this.#hook.onRegisterAgent?.(agent))
  }

  /** Notifies the hook that an agent is gone; does nothing for one that is not registered. */
  async unregister(id: string): Promise<void> {
    const agent = this.#known.get(id)?.agent
    if (agent !== undefined) await this.#notify(id, undefined, () => this.#hook.onUnregisterAgent?.(agent))
  }

  async #notify(
    id: string,
    agent: AgentConfig | undefined,
    notify: () => Promise<void> | undefined,
  ): Promise<void> {
    const before = this.#known.get(id)?.notification
    const notification = lazy(async () => {
      await before?.current?.catch(() => undefined) // the failure is reported to its own caller
      await notify()
    })
    this.#known.set(id, { agent, notification })
    await notification.get()
  }
}
