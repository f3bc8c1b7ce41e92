import { CrabError } from '../core/base/errors.ts'
import type { Log } from '../core/base/log.ts'
import { type AgentConfig, foldName } from '../core/config/agent-schema.ts'
import type { AgentStore } from '../core/config/agents.ts'
import { entryRules } from '../core/config/entry-rules.ts'
import { toRules } from '../core/config/permissions.ts'
import type { KnownAgents } from '../core/runtime/known-agents.ts'
import type { Agents } from '../core/runtime/runtime-options.ts'

/** The dependencies of `withLastGood()`. */
export interface LastGoodOptions {
  store: Pick<AgentStore, 'get' | 'rules' | 'addRule'>
  known: Pick<KnownAgents, 'all'>
  log: Log
}

/**
 * Wraps the agent store for turns: an agent whose file has become invalid keeps its last good configuration,
 * including its rules (ADR 0108).
 */
export function withLastGood({ store, known, log }: LastGoodOptions): Agents {
  const useLastGood = (name: string, reason: unknown): AgentConfig => {
    const lastGood = known.all().find((agent) => foldName(agent.name) === foldName(name))
    if (!lastGood || !(reason instanceof CrabError) || reason.kind !== 'config') throw reason
    log('warn', `${reason.message}; the agent keeps its previous configuration`, { agent: lastGood.name })
    return lastGood
  }
  return {
    get: (name, options) => store.get(name, options).catch((reason: unknown) => useLastGood(name, reason)),
    rules: (name) => store.rules(name).catch((reason: unknown) => pickRules(useLastGood(name, reason))),
    addRule: (name, rule) => store.addRule(name, rule),
  }
}

function pickRules({ name, permissions, mcps }: AgentConfig) {
  const place = () => `agents/${name}.toml (previous version)`
  return [...toRules(permissions, place), ...mcps.flatMap((entry) => entryRules(entry, place))]
}
