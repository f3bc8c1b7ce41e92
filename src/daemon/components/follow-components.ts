import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { Serial } from '../../core/base/serial.ts'
import { watchFolder } from '../../core/base/watch-folder.ts'
import { DISCOVERY } from '../../core/config/component.ts'
import type { Hook } from '../../core/runtime/hook.ts'
import type { McpServers } from '../../mcp/types.ts'
import type { AgentSync } from '../agent-sync.ts'
import type { Components } from './components.ts'

/** The dependencies of `followComponents()`. */
export interface FollowOptions {
  components: Components
  /** The folder of the port files. */
  folder: string
  hook: Pick<Hook, 'onRegisterAgent'>
  mcp(signal: AbortSignal): Promise<McpServers>
  agentSync: Pick<AgentSync, 'componentsChanged'>
  log: Log
  /**
   * The interval in milliseconds at which the folder is polled in addition to being watched, one minute by default,
   * and connected components are pinged, 15 seconds by default.
   */
  lookMs?: number | undefined
}

/**
 * Keeps connections to components, and the agents that use them, in sync with the port files until it is
 * disposed. Works in the background.
 */
export function followComponents(options: FollowOptions): Disposable {
  const { components, folder, log, lookMs } = options
  const shutdown = new AbortController()
  const logged = new Set<string>()
  const changes = new Serial()
  let checking: NodeJS.Timeout | undefined
  const listening = components.listen((changed) => {
    logBroken(components, logged, log)
    clearInterval(checking)
    if (components.discovery.mcps.length > 0)
      checking = setInterval(() => void pingConnected(options, shutdown.signal), lookMs ?? CHECK_MS).unref()
    changes
      .run(() => applyChanges(changed, options, shutdown.signal))
      .catch((reason: unknown) => log('warn', toCrabError(reason).message))
  })
  const watching = watchFolder({
    folder,
    isWatched: (file) => file.endsWith('.port') || file.endsWith('.key'),
    look: () => components.readAgain(),
    ...(lookMs !== undefined && { lookMs }),
  })
  return {
    [Symbol.dispose]() {
      shutdown.abort()
      clearInterval(checking)
      listening[Symbol.dispose]()
      watching[Symbol.dispose]()
    },
  }
}

/**
 * Registers the discovery owner first, so that the connections that agents share with it exist when they ask.
 */
async function applyChanges(
  changed: readonly string[],
  options: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  const { components, hook, agentSync, log } = options
  const { discovery } = components
  log('info', `components: ${changed.join(', ')} changed`, {
    components: discovery.mcps.map(({ name }) => name),
  })
  await hook.onRegisterAgent?.(discovery)
  await agentSync.componentsChanged()
  const fresh = changed.filter((name) => discovery.mcps.some((entry) => entry.name === name))
  for (const name of fresh) void connectWithRetry(name, options, signal)
}

/**
 * Retries, because a component that restarts at the same address, or announces itself before it listens, must
 * not stay marked as failed.
 */
async function connectWithRetry(
  name: string,
  { components, mcp, log }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  for (const waitMs of RETRY_MS) {
    try {
      await sleep(waitMs, undefined, { signal, ref: false })
      const { discovery } = components
      if (discovery.mcps.some((entry) => entry.name === name)) {
        await (await mcp(signal)).connect(discovery, name, signal)
      }
      return
    } catch (reason) {
      if (signal.aborted) return
      log('debug', toCrabError(reason).message, { owner: DISCOVERY.name })
    }
  }
}

/**
 * Pings the components that are connected: one that was killed leaves its port file, and if it kept no stream open,
 * only a request finds that it is gone.
 */
async function pingConnected({ components, mcp }: FollowOptions, signal: AbortSignal): Promise<void> {
  const { discovery } = components
  const servers = await mcp(signal).catch(() => undefined) // reported where it is used
  const connected = servers?.peers().filter(({ state }) => state === 'connected') ?? []
  const names = connected.flatMap(({ owners }) =>
    owners.filter(({ agent }) => agent === DISCOVERY.name).map(({ name }) => name),
  )
  await Promise.allSettled(names.map((name) => servers?.ping(discovery, name, signal))) // shown in its state
}

function logBroken({ broken }: Components, logged: Set<string>, log: Log): void {
  for (const { file, problem } of broken) {
    const line = `${file}: ${problem}`
    if (!logged.has(line)) log('warn', line)
    logged.add(line)
  }
}

/** The delays in milliseconds before each attempt to reach an announced component. */
const RETRY_MS = [0, 500, 2_000]
/** The interval in milliseconds at which connected components are pinged. */
const CHECK_MS = 15_000
