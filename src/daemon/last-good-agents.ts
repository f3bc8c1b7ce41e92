import { CrabError } from '../core/base/errors.ts'
import type { Log } from '../core/base/log.ts'
import { type AgentConfig, foldName } from '../core/config/agent-schema.ts'
import type { AgentStore } from '../core/config/agents.ts'
import { entryRules } from '../core/config/entry-rules.ts'
import { toRules } from '../core/config/permissions.ts'
import type { KnownAgents } from '../core/runtime/known-agents.ts'
import type { Agents } from '../core/runtime/runtime-options.ts'

export interface LastGoodOptions {
  store: Pick<AgentStore, 'get' | 'rules' | 'addRule'>
  known: Pick<KnownAgents, 'all'>
  log: Log
}

/** The agents of turns: one whose file cannot be used any more stays what it was known as, rules included (decision 20). */
export function withLastGood({ store, known, log }: LastGoodOptions): Agents {
  const keep = (name: string, reason: unknown): AgentConfig => {
    const kept = known.all().find((agent) => foldName(agent.name) === foldName(name))
    if (!kept || !(reason instanceof CrabError) || reason.kind !== 'config') throw reason
    log('warn', `${reason.message}; the agent stays as it was`, { agent: kept.name })
    return kept
  }
  return {
    get: (name, options) => store.get(name, options).catch((reason: unknown) => keep(name, reason)),
    rules: (name) => store.rules(name).catch((reason: unknown) => pickRules(keep(name, reason))),
    addRule: (name, rule) => store.addRule(name, rule),
  }
}

function pickRules({ name, permissions, mcps }: AgentConfig) {
  const place = () => `agents/${name}.toml as it was`
  return [...toRules(permissions, place), ...mcps.flatMap((entry) => entryRules(entry, place))]
}
