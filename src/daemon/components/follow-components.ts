import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { DISCOVERY } from '../../core/config/component.ts'
import type { Hook } from '../../core/runtime/hook.ts'
import type { McpServers } from '../../mcp/types.ts'
import type { AgentSync } from '../agent-sync.ts'
import type { Components } from './components.ts'
import { watchFolder } from './watch-folder.ts'

export interface FollowOptions {
  components: Components
  /** Of the port files. */
  folder: string
  hook: Pick<Hook, 'onRegisterAgent'>
  mcp(signal: AbortSignal): Promise<McpServers>
  roster: Pick<AgentSync, 'componentsChanged'>
  log: Log
  /** How often the folder is looked at though nothing is told of it, milliseconds; by default once a minute. */
  lookMs?: number | undefined
}

/**
 * Keeps connections to components and the agents that ask for them in line with the port files, until it is disposed.
 * Nobody waits for it.
 */
export function followComponents(options: FollowOptions): Disposable {
  const { components, folder, log, lookMs } = options
  const over = new AbortController()
  const told = new Set<string>()
  let last: Promise<void> = Promise.resolve()
  const listening = components.listen((changed) => {
    logBroken(components, told, log)
    last = last
      .then(() => take(changed, options, over.signal))
      .catch((reason: unknown) => log('warn', toCrabError(reason).message)) // the next change is taken all the same
  })
  const watching = watchFolder({
    folder,
    isWatched: (file) => file.endsWith('.port') || file.endsWith('.key'),
    look: () => components.readAgain(),
    ...(lookMs !== undefined && { lookMs }),
  })
  return {
    [Symbol.dispose]() {
      over.abort()
      listening[Symbol.dispose]()
      watching[Symbol.dispose]()
    },
  }
}

/** The discovery owner goes first: what agents share with it is there when they ask. */
async function take(changed: readonly string[], options: FollowOptions, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { components, hook, roster, log } = options
  const { discovery } = components
  log('info', `components: ${changed.join(', ')} changed`, {
    components: discovery.mcps.map(({ name }) => name),
  })
  await hook.onRegisterAgent?.(discovery)
  await roster.componentsChanged()
  const fresh = changed.filter((name) => discovery.mcps.some((entry) => entry.name === name))
  for (const name of fresh) void insist(name, options, signal)
}

/** One that runs again where it was, or says where it is before it listens, is not known as failed. */
async function insist(
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

function logBroken({ broken }: Components, told: Set<string>, log: Log): void {
  for (const { file, problem } of broken) {
    const line = `${file}: ${problem}`
    if (!told.has(line)) log('warn', line)
    told.add(line)
  }
}

/** Before each try to reach a component that has announced itself. */
const RETRY_MS = [0, 500, 2_000]
