import { orCancelled } from '../core/base/cancelled.ts'
import { newUlid } from '../core/base/ids.ts'
import { once } from '../core/base/once.ts'
import { AgentStore } from '../core/config/agents.ts'
import { loadConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { environmentHook } from '../core/hooks/environment.ts'
import { instructionsHook } from '../core/hooks/instructions.ts'
import { readHook } from '../core/hooks/read.ts'
import { MemoryLeases } from '../core/lease/memory-leases.ts'
import { type Holder, SqliteLeases } from '../core/lease/sqlite-leases.ts'
import { openModels } from '../core/provider/discover.ts'
import type { ModelRegistry } from '../core/provider/registry.ts'
import { compositeHook } from '../core/runtime/composite-hook.ts'
import type { Place } from '../core/runtime/held-conversation.ts'
import type { Hook } from '../core/runtime/hook.ts'
import { Runtime } from '../core/runtime/runtime.ts'
import { DiskStorage } from '../core/storage/disk-storage.ts'
import { MemoryStorage } from '../core/storage/memory-storage.ts'

/** Where a node stands. */
export interface NodeOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  /** Of this process, so that others can be told who holds what. */
  pid: number
  /** Working directory of conversations whose client names none. */
  cwd: string
}

/** Everything a handler may use. What costs time is made when it is first asked for. */
export interface Services extends AsyncDisposable {
  readonly agents: AgentStore
  readonly place: Place
  models(signal: AbortSignal): Promise<ModelRegistry>
  /** The process that holds a lease now, if one does. */
  holderOf(resource: string): Promise<Holder | undefined>
  runtime(signal: AbortSignal): Promise<Runtime>
  now(): number
}

/** Builds storage, models, hooks and runtime of one home directory. */
export function compose(options: NodeOptions): Services {
  const { paths, env, pid, cwd } = options
  const now = Date.now
  const over = new AbortController()
  const leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid })
  const storage = new DiskStorage({ sessions: paths.sessions, index: paths.index, now })
  const place: Place = { storage, leases, cache: new Map() }
  const agents = new AgentStore({ paths, lock: (resource) => leases.take(resource, over.signal) })
  const models = once(async () => openModels({ config: await loadConfig(paths), env }, over.signal))
  const runtime = once(async () => {
    const provider = await models.get()
    const hook = makeHook(options, now)
    return new Runtime({
      agents,
      provider,
      hook,
      place,
      scratch: scratch(now),
      defaultCwd: cwd,
      homeDir: options.homeDir,
      spill: join(paths.cache, 'output'),
      rules: config.permissions,
      askTimeoutMs: ASK_TIMEOUT_MS,
      now,
      newId: newUlid,
    })
  })
  return {
    agents,
    place,
    models: (signal) => orCancelled(models.get(), signal),
    holderOf: (resource) => leases.describeHolder(resource),
    runtime: (signal) => orCancelled(runtime.get(), signal),
    now,
    async [Symbol.asyncDispose]() {
      over.abort()
      const made = await runtime.made?.catch(() => undefined) // whoever asked for it was told
      await made?.[Symbol.asyncDispose]()
      await leases[Symbol.asyncDispose]()
    },
  }
}

/** What agents can do and are told, in the order in which the model sees it. */
function makeHook({ paths, env }: NodeOptions, now: () => number): Hook {
  return compositeHook([
    readHook({ closed: [paths.config, paths.agents, paths.vault, paths.run] }),
    environmentHook({ shell: env['SHELL'], now }),
    instructionsHook({ homeFile: paths.instructions }),
  ])
}

/** Where conversations that are not stored live. */
function scratch(now: () => number): Place {
  return { storage: new MemoryStorage({ now }), leases: new MemoryLeases(), cache: new Map() }
}
