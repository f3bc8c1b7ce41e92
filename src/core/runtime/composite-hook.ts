import type { AgentConfig } from '../config/agent-schema.ts'
import type { Hook } from './hook.ts'

/** Several hooks as one, in a fixed order: the first owner of a tool name wins, prompts are joined in order. */
export function compositeHook(hooks: readonly Hook[]): Hook {
  return {
    schema: () => uniqueByName(hooks.flatMap((hook) => hook.schema?.() ?? [])),
    systemPrompt: () => join(hooks.map((hook) => hook.systemPrompt?.())),
    context: async (cwd) => join(await Promise.all(hooks.map((hook) => hook.context?.(cwd)))),
    onBuildAgent: (config) => hooks.reduce((built, hook) => hook.onBuildAgent?.(built) ?? built, config),
    async onRegisterAgent(config) {
      for (const hook of hooks) await hook.onRegisterAgent?.(config)
    },
    async onUnregisterAgent(config) {
      for (const hook of hooks.toReversed()) await hook.onUnregisterAgent?.(config)
    },
    onEvent(agent, session, event) {
      for (const hook of hooks) hook.onEvent?.(agent, session, event)
    },
    async preprocess(agent, content) {
      let text: string | undefined
      for (const hook of hooks) text = (await hook.preprocess?.(agent, text ?? content)) ?? text
      return text
    },
    scopedTools(config) {
      const taken = new Set<string>()
      const parts = hooks.map((hook) => ownScope(hook, config, taken))
      const scope = join(parts.map((part) => part.scope))
      const tools = [...new Set(parts.flatMap((part) => part.tools))]
      return scope === undefined ? { tools } : { tools, scope }
    },
    dispatch(name, call, signal) {
      for (const hook of hooks) {
        const running = hook.dispatch?.(name, call, signal)
        if (running) return running
      }
      return undefined
    },
  }
}

/** Which of a hook's tools an agent may call; a hook that does not say allows all of them. */
export function scopeOf(hook: Hook, config: AgentConfig): { tools: readonly string[]; scope?: string } {
  return hook.scopedTools?.(config) ?? { tools: (hook.schema?.() ?? []).map((tool) => tool.name) }
}

/** What a hook allows of the tools that none of the hooks before it owns; adds its own to `taken`. */
function ownScope(hook: Hook, config: AgentConfig, taken: Set<string>): ReturnType<typeof scopeOf> {
  const scope = scopeOf(hook, config)
  const tools = scope.tools.filter((name) => !taken.has(name))
  for (const { name } of hook.schema?.() ?? []) taken.add(name)
  return { ...scope, tools }
}

function join(parts: readonly (string | undefined)[]): string | undefined {
  const text = parts.filter(Boolean).join('\n\n')
  return text === '' ? undefined : text
}

function uniqueByName<T extends { name: string }>(items: readonly T[]): T[] {
  const byName = new Map<string, T>()
  for (const item of items) if (!byName.has(item.name)) byName.set(item.name, item)
  return [...byName.values()]
}
