import { lazy } from '../../core/base/lazy.ts'
import type { Hook } from '../../core/runtime/hook.ts'
import type { McpServers } from '../types.ts'

/**
 * Wraps the MCP hook so that servers are opened when the first agent that declares any is registered or runs
 * a turn: other agents do not pay for them.
 */
export function lazyMcpHook(open: () => Promise<McpServers>): Hook {
  let opened: Hook | undefined
  const servers = lazy(async () => {
    opened = (await open()).hook
    return opened
  })
  return {
    async onRegisterAgent(agent) {
      if (agent.mcps.length > 0 || servers.current) await (await servers.get()).onRegisterAgent?.(agent)
    },
    async onUnregisterAgent(agent) {
      if (servers.current) await (await servers.get()).onUnregisterAgent?.(agent)
    },
    async schema(agent, turn) {
      const hasServers = agent.mcps.length > 0 || agent.invalidMcps !== undefined
      return !hasServers ? [] : ((await (await servers.get()).schema?.(agent, turn)) ?? [])
    },
    async preprocess(message, signal) {
      if (message.agent.mcps.length === 0 || !message.content.includes('@')) return undefined
      return await (await servers.get()).preprocess?.(message, signal)
    },
    groups: (agent) => opened?.groups?.(agent) ?? [],
    describe: (name, request) => opened?.describe?.(name, request),
    dispatch: (name, call, signal) => opened?.dispatch?.(name, call, signal),
  }
}
