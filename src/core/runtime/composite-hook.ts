import type { AgentConfig } from '../config/agent-schema.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { Hook, ToolsTurn } from './hook.ts'

/**
 * Combines hooks into one, in a fixed order: the first owner of a tool name wins, prompts are joined in
 * order.
 */
export function compositeHook(hooks: readonly Hook[]): Hook {
  return {
    schema: (agent, turn) => collectTools(hooks, agent, turn),
    groups: (agent) => hooks.flatMap((hook) => hook.groups?.(agent) ?? []),
    whyNot: (name, turnOver) => findFirst(hooks, (hook) => hook.whyNot?.(name, turnOver)),
    systemPrompt: (keeps) => join(hooks.map((hook) => hook.systemPrompt?.(keeps))),
    context: async (cwd, turn) => join(await Promise.all(hooks.map((hook) => hook.context?.(cwd, turn)))),
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
    async preprocess(message, signal) {
      let text: string | undefined
      for (const hook of hooks) {
        const content = text ?? message.content
        text = (await hook.preprocess?.({ ...message, content }, signal)) ?? text
      }
      return text
    },
    scope: (config) => join(hooks.map((hook) => hook.scope?.(config))),
    describe: (name, request) => findFirst(hooks, (hook) => hook.describe?.(name, request)),
    dispatch: (name, call, signal) => findFirst(hooks, (hook) => hook.dispatch?.(name, call, signal)),
  }
}

/** The tools of all hooks; of two with the same name, the first. */
async function collectTools(
  hooks: readonly Hook[],
  agent: AgentConfig,
  turn: ToolsTurn,
): Promise<ToolSpec[]> {
  const lists = await Promise.all(hooks.map((hook) => hook.schema?.(agent, turn) ?? []))
  const byName = new Map<string, ToolSpec>()
  for (const tool of lists.flat()) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return [...byName.values()]
}

function findFirst<T>(hooks: readonly Hook[], ask: (hook: Hook) => T | undefined): T | undefined {
  for (const hook of hooks) {
    const answer = ask(hook)
    if (answer !== undefined) return answer
  }
  return undefined
}

function join(parts: readonly (string | undefined)[]): string | undefined {
  const text = parts.filter(Boolean).join('\n\n')
  return text === '' ? undefined : text
}
