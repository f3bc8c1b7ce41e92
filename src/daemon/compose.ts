import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { abortable } from '../core/base/abortable.ts'
import { newUlid } from '../core/base/ids.ts'
import { lazy } from '../core/base/lazy.ts'
import { SubscriptionStore } from '../core/bus/subscription-store.ts'
import { AgentStore } from '../core/config/agents.ts'
import { migrateServers } from '../core/config/migrate-servers.ts'
import { askUserHook } from '../core/hooks/ask-user.ts'
import { bashHook } from '../core/hooks/bash/bash-hook.ts'
import { environmentHook } from '../core/hooks/environment.ts'
import { fileHook } from '../core/hooks/files/file-hook.ts'
import { groupsHook } from '../core/hooks/groups/groups-hook.ts'
import { instructionsHook } from '../core/hooks/instructions/instructions-hook.ts'
import { memoryHook } from '../core/hooks/memory/memory-hook.ts'
import { guardedPaths, ownPaths } from '../core/hooks/protected-paths.ts'
import { chooseEngine } from '../core/hooks/search/choose-engine.ts'
import { searchHook } from '../core/hooks/search/search-hook.ts'
import { searchSessionsHook } from '../core/hooks/search-sessions/search-sessions-hook.ts'
import { skillsHook } from '../core/hooks/skills/skills-hook.ts'
import { MemoryLeases } from '../core/lease/memory-leases.ts'
import { SqliteLeases } from '../core/lease/sqlite-leases.ts'
import { MemoryStore } from '../core/memory/memory-store.ts'
import { openProcessHost } from '../core/process/process-host.ts'
import type { ProcessHost } from '../core/process/types.ts'
import { Asks } from '../core/runtime/asks.ts'
import { compositeHook } from '../core/runtime/composite-hook.ts'
import type { McpServerEvent } from '../core/runtime/events.ts'
import type { Hook } from '../core/runtime/hook.ts'
import { KnownAgents } from '../core/runtime/known-agents.ts'
import type { ConversationStores } from '../core/runtime/leased-conversation.ts'
import { Broadcast } from '../core/runtime/live/broadcast.ts'
import { Journals } from '../core/runtime/live/journals.ts'
import { LiveTurns } from '../core/runtime/live/live-turns.ts'
import { RunningTurns } from '../core/runtime/running-turns.ts'
import { Runtime } from '../core/runtime/runtime.ts'
import { workingDirectory } from '../core/runtime/working-directory.ts'
import { scanSkills } from '../core/skills/scan-skills.ts'
import { skillRoots } from '../core/skills/skill-roots.ts'
import { DiskStorage } from '../core/storage/disk-storage.ts'
import { MemoryStorage } from '../core/storage/memory-storage.ts'
import { SessionFolder } from '../core/storage/session-folder.ts'
import { TrustStore } from '../core/trust/trust-store.ts'
import { lazyMcpHook } from '../mcp/hook/lazy-hook.ts'
import type { McpFrame } from '../mcp/types.ts'
import { AgentSync } from './agent-sync.ts'
import { Components } from './components/components.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { openBus } from './event-bus.ts'
import { withLastGood } from './last-good-agents.ts'
import { lazySessionIndex, type SessionSearch } from './lazy-session-index.ts'
import { LiveConfig } from './live-config.ts'
import { reloader } from './reload.ts'
import type { NodeOptions, Services } from './services.ts'
import { sweepAbandoned } from './sweep-leftovers.ts'

/** Builds storage, models, hooks and runtime for a home directory. */
export function compose(options: NodeOptions): Services {
  const { paths, env, pid, cwd } = options
  const now = Date.now
  const over = new AbortController()
  const wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false })
  let sweeping: Promise<unknown> | undefined
  const leases = new SqliteLeases({
    ...{ database: paths.leases, proc: paths.proc, pid },
    onAbandoned(resources) {
      sweeping = Promise.all([sweeping, sweepAbandoned(resources, { leases, now, wait }, over.signal)])
    },
  })
  const folder = new SessionFolder({ path: paths.sessions, isWatched: options.daemon !== undefined, now })
  const sessionIndex = lazySessionIndex(folder, async () => {
    const { SessionIndex } = await import('../core/session-search/session-index.ts')
    return new SessionIndex({
      folder,
      index: paths.index,
      leases,
      lasts: options.daemon !== undefined,
      worker: options.searchWorker,
      log: options.log,
    })
  })
  const storage = new DiskStorage({
    ...{ sessions: paths.sessions, index: paths.index, folder, now },
    onChange: (change) => sessionIndex.changed(change),
  })
  const memory = new MemoryStore({
    folder: paths.memory,
    lock: (resource, signal) => leases.take(resource, signal),
    now,
  })
  const place: ConversationStores = { storage, leases, cache: new Map(), memory }
  const directories = { defaultCwd: cwd, workspaces: paths.workspace }
  const running = new RunningTurns()
  const asks = new Asks({ timeoutMs: ASK_TIMEOUT_MS })
  const agents = new AgentStore({ paths, lock: (resource) => leases.take(resource, over.signal) })
  const setting = new LiveConfig({ paths, env, over: over.signal, lasts: options.daemon !== undefined })
  const processes = openProcessHost({ pid })
  const mcpEvents = new Broadcast<McpServerEvent>()
  const frames = new Broadcast<McpFrame>()
  const mcp = lazy(async () => {
    const { openMcpServers } = await import('../mcp/open-servers.ts')
    const { home, cache: cacheDir } = paths
    const baseEnv = (await setting.config()).env
    const onEvent = (event: McpServerEvent) => mcpEvents.tell(event)
    return openMcpServers({ processes, home, cacheDir, env, baseEnv, now, onEvent, frames })
  })
  const components = new Components(paths.run)
  const skills = async () => scanSkills(skillRoots(paths, options.homeDir, await setting.config()))
  const tools = [
    ...createToolHooks(options, { processes, memory, sessionIndex, place }),
    lazyMcpHook(mcp.get),
  ]
  const hook = groupsHook(
    compositeHook([
      components.hook,
      skillsHook({ scan: skills }),
      ...tools,
      ...createPlaceHooks(options, leases),
    ]),
  )
  const known = new KnownAgents(hook)
  const runtime = lazy(async () => {
    await setting.models(over.signal)
    return new Runtime({
      agents: withLastGood({ store: agents, known, log: options.log }),
      setting: () => setting.current,
      hook,
      known,
      place,
      scratch: openScratchStores(now),
      running,
      ...directories,
      homeDir: options.homeDir,
      spill: join(paths.cache, 'output'),
      undo: paths.undo,
      asks,
      log: options.log,
      now,
      newId: newUlid,
    })
  })
  const journals = new Journals()
  const events = new Broadcast<DaemonEvent>()
  const subscriptions = new SubscriptionStore({
    path: paths.subscriptions,
    lock: (resource, signal) => leases.take(resource, signal),
  })
  const bus =
    options.daemon &&
    openBus({ subscriptions, events, live: () => live, log: options.log, over: over.signal, now })
  const { log } = options
  const migrate: Services['migrate'] = (tell) => {
    return migrateServers({ paths, lock: (resource) => leases.take(resource, over.signal), tell })
  }
  const roster = new AgentSync({ agents, hook, known, log })
  const servers = async () => mcp.current?.catch(() => undefined) // the caller that opened them got the failure
  const reloads = reloader({
    ...{ setting, roster, subscriptions, skills, servers, components, migrate, log },
    over: over.signal,
  })
  const upToDate = async (signal: AbortSignal) => {
    await reloads.config(signal)
    return await abortable(runtime.get(), signal)
  }
  const live = new LiveTurns({
    runtime: upToDate,
    journals,
    observers: [
      (run, event) => events.tell({ type: 'turn', at: now(), run, event }),
      (run, event) => bus?.observe(run, event),
    ],
    over: over.signal,
    now,
    newId: newUlid,
  })
  return {
    node: options,
    agents,
    place,
    memory,
    sessionIndex,
    running,
    asks,
    live,
    journals,
    events,
    subscriptions,
    bus,
    setting,
    hook,
    components,
    mcp: (signal) => abortable(mcp.get(), signal),
    mcpEvents,
    mcpFrames: frames,
    roster,
    skills,
    migrate,
    reloads,
    async rules() {
      await reloads.config(over.signal)
      return (await setting.config()).permissions
    },
    async models(signal) {
      await reloads.config(signal)
      return await setting.models(signal)
    },
    findHolder: (resource) => leases.describeHolder(resource),
    runtime: upToDate,
    usualCwd: (pair, trust) => workingDirectory(directories, { pair, trust }, cwd),
    now,
    async [Symbol.asyncDispose]() {
      bus?.bus.close() // turns that end from here on start nothing
      over.abort()
      await live.settled()
      await bus?.bus.settled()
      await roster.settled()
      const opened = await servers()
      if (options.daemon) await opened?.[Symbol.asyncDispose]()
      else opened?.release() // a command exits without waiting: the watchdogs end its servers
      const openedRuntime = await runtime.current?.catch(() => undefined)
      await openedRuntime?.[Symbol.asyncDispose]()
      await sessionIndex[Symbol.asyncDispose]()
      await sweeping
      folder[Symbol.dispose]()
      processes.releaseAll() // the watchdogs end what still runs
      await leases[Symbol.asyncDispose]()
    },
  }
}

/** The dependencies of the built-in tools. */
interface ToolSources {
  processes: ProcessHost
  memory: MemoryStore
  sessionIndex: SessionSearch
  place: ConversationStores
}

/** Returns the built-in tools, in the order in which a model sees them. */
function createToolHooks(
  { paths, env, homeDir, ripgrep }: NodeOptions,
  { processes, memory, sessionIndex, place: { leases, storage } }: ToolSources,
): Hook[] {
  const closed = ownPaths(paths)
  const engine = chooseEngine({ processes, ripgrep: () => ripgrep(join(paths.cache, 'bin')), env })
  return [
    fileHook({
      closed,
      homeDir,
      guarded: guardedPaths(paths),
      lock: (resource, signal) => leases.take(resource, signal),
    }),
    bashHook({ processes, homeDir, closed }),
    searchHook({ engine, closed, homeDir }),
    memoryHook({ memory, now: Date.now }),
    searchSessionsHook({ search: sessionIndex.search, storage }),
    askUserHook(),
  ]
}

/** Returns the hooks that describe the working directory to agents. */
function createPlaceHooks({ paths, env, homeDir, uid }: NodeOptions, leases: SqliteLeases): Hook[] {
  const lock = (resource: string, signal: AbortSignal) => leases.take(resource, signal)
  const trust = new TrustStore({ path: paths.trust, lock, now: Date.now })
  const closed = [...ownPaths(paths), paths.workspace]
  const { home, instructions: homeFile } = paths
  return [
    environmentHook({ shell: env['SHELL'], now: Date.now }),
    instructionsHook({ home, homeFile, homeDir, uid, closed, trust }),
  ]
}

/**
 * The time in milliseconds that a question waits when its client may have left, or never declared that it
 * answers (docs/conversations.md).
 */
const ASK_TIMEOUT_MS = 300_000

/** Opens in-memory stores for conversations that are not saved. */
function openScratchStores(now: () => number): ConversationStores {
  return { storage: new MemoryStorage({ now }), leases: new MemoryLeases(), cache: new Map() }
}
