import { join } from 'node:path'
import { abortable } from '../core/base/abortable.ts'
import { lazy } from '../core/base/lazy.ts'
import type { ProcessHost } from '../core/process/types.ts'
import type { McpServerEvent } from '../core/runtime/events.ts'
import type { Hook } from '../core/runtime/hook.ts'
import { Broadcast } from '../core/runtime/live/broadcast.ts'
import { lazyMcpHook } from '../mcp/hook/lazy-hook.ts'
import type { McpFrame, McpServers } from '../mcp/types.ts'
import type { LiveConfig } from './live-config.ts'
import type { NodeContext, Services } from './services.ts'
import { watchCredentials } from './watch-credentials.ts'

/** The MCP servers of a node; src/mcp is loaded when an agent needs the first of them. */
export interface NodeMcp extends Pick<Services, 'mcp' | 'mcpEvents' | 'mcpFrames'>, AsyncDisposable {
  mcpHook: Hook
  /** Returns the servers if they were opened already. */
  openedServers(): Promise<McpServers | undefined>
}

/** Prepares the MCP servers of a node. */
export function buildMcp(
  { options, now, wait }: NodeContext,
  { liveConfig, processes }: { liveConfig: LiveConfig; processes: ProcessHost },
): NodeMcp {
  const { paths, env, ownCommand, daemon, isInteractive = false } = options
  const mcpEvents = new Broadcast<McpServerEvent>()
  const mcpFrames = new Broadcast<McpFrame>()
  const watches = new DisposableStack()
  const servers = lazy(async () => {
    const { openMcpServers } = await import('../mcp/open-servers.ts')
    const { env: baseEnv, mcp: entryDefaults } = await liveConfig.config()
    const isLongLived = daemon !== undefined || isInteractive
    const opened = openMcpServers({
      ...{ processes, home: paths.home, cacheDir: paths.cache, env, baseEnv, now, wait, frames: mcpFrames },
      ownCommand,
      entryDefaults,
      startsKnown: isLongLived,
      logDir: join(paths.logs, 'mcp'),
      onEvent: (event) => mcpEvents.publish(event),
    })
    if (isLongLived) watches.use(watchCredentials(paths, () => opened.renewCredentials()))
    return opened
  })
  const openedServers = async () => servers.current?.catch(() => undefined) // the caller that opened them got the failure
  return {
    mcp: (signal) => abortable(servers.get(), signal),
    mcpEvents,
    mcpFrames,
    mcpHook: lazyMcpHook(servers.get),
    openedServers,
    async [Symbol.asyncDispose]() {
      const opened = await openedServers()
      watches.dispose()
      if (daemon) await opened?.[Symbol.asyncDispose]()
      else opened?.release() // a command exits without waiting: the watchdogs end its servers
    },
  }
}
