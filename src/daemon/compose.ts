import { setTimeout as sleep } from 'node:timers/promises'
import { openProcessHost } from '../core/process/process-host.ts'
import { workingDirectory } from '../core/runtime/working-directory.ts'
import { buildMcp } from './build-mcp.ts'
import { buildStores } from './build-stores.ts'
import { buildTools } from './build-tools.ts'
import { buildTurns } from './build-turns.ts'
import { openHelperKeys } from './helper-keys.ts'
import { LiveConfig } from './live-config.ts'
import type { NodeContext, NodeOptions, Services } from './services.ts'

/** Builds stores, MCP servers, tools and turns for a home directory. Expensive parts are opened on first use. */
export function compose(options: NodeOptions): Services {
  const { paths, env, pid, cwd, daemon } = options
  const stop = new AbortController()
  const shutdown = stop.signal
  const wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false })
  const context: NodeContext = { options, now: Date.now, wait, shutdown }
  const processes = openProcessHost({ pid })
  const helperKeys = openHelperKeys(options, processes, shutdown)
  const liveConfig = new LiveConfig({ paths, env, shutdown, isLongLived: daemon !== undefined, helperKeys })
  const stores = buildStores(context)
  const mcp = buildMcp(context, { liveConfig, processes })
  const tools = buildTools(context, { stores, liveConfig, processes, mcpHook: mcp.mcpHook })
  const turns = buildTurns(context, { stores, liveConfig, tools, mcp })
  const directories = { defaultCwd: cwd, workspaces: paths.workspace }
  return {
    node: options,
    now: context.now,
    liveConfig,
    ...stores,
    ...mcp,
    ...tools,
    ...turns,
    async rules() {
      await turns.reloads.config(shutdown)
      return (await liveConfig.config()).permissions
    },
    async models(signal) {
      await turns.reloads.config(signal)
      return await liveConfig.models(signal)
    },
    findHolder: (resource) => stores.leases.describeHolder(resource),
    defaultCwd: (pair, trust) => workingDirectory(directories, { pair, trust }, cwd),
    async [Symbol.asyncDispose]() {
      turns.bus?.bus.close() // turns that end from here on start nothing
      stop.abort()
      await turns.settled()
      await mcp[Symbol.asyncDispose]()
      await turns[Symbol.asyncDispose]()
      await stores[Symbol.asyncDispose]()
      processes.releaseAll() // the watchdogs end what still runs
      await stores.leases[Symbol.asyncDispose]()
    },
  }
}
