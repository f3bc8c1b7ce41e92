import { join } from 'node:path'
import { abortable } from '../core/base/abortable.ts'
import { CrabError } from '../core/base/errors.ts'
import { newUlid } from '../core/base/ids.ts'
import { lazy } from '../core/base/lazy.ts'
import type { Log } from '../core/base/log.ts'
import { type AgentConfig, foldName } from '../core/config/agent-schema.ts'
import type { AgentStore } from '../core/config/agents.ts'
import { entryRules } from '../core/config/entry-rules.ts'
import { migrateServers } from '../core/config/migrate-servers.ts'
import { toRules } from '../core/config/permissions.ts'
import { MemoryLeases } from '../core/lease/memory-leases.ts'
import { Asks } from '../core/runtime/asks.ts'
import { KnownAgents } from '../core/runtime/known-agents.ts'
import type { ConversationStores } from '../core/runtime/leased-conversation.ts'
import { Broadcast } from '../core/runtime/live/broadcast.ts'
import { Journals } from '../core/runtime/live/journals.ts'
import { LiveTurns } from '../core/runtime/live/live-turns.ts'
import { RunningTurns } from '../core/runtime/running-turns.ts'
import { Runtime } from '../core/runtime/runtime.ts'
import type { Agents } from '../core/runtime/runtime-options.ts'
import { MemoryStorage } from '../core/storage/memory-storage.ts'
import { AgentSync } from './agent-sync.ts'
import type { NodeMcp } from './build-mcp.ts'
import type { NodeStores } from './build-stores.ts'
import type { NodeTools } from './build-tools.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { type DaemonBus, openBus } from './event-bus.ts'
import { Followers } from './followers.ts'
import type { LiveConfig } from './live-config.ts'
import { reloader } from './reload.ts'
import type { NodeContext, Services } from './services.ts'
import { type IsTrustedFile, watchServerTrust } from './watch-server-trust.ts'

/** The turns of a node, and what keeps their agents and their configuration current. */
export interface NodeTurns
  extends Pick<
      Services,
      | 'running'
      | 'asks'
      | 'live'
      | 'journals'
      | 'followers'
      | 'events'
      | 'bus'
      | 'agentSync'
      | 'migrate'
      | 'reloads'
      | 'runtime'
    >,
    AsyncDisposable {
  /** Resolves when no turn, event or change of an agent is in progress; nothing new starts from then on. */
  settled(): Promise<void>
}

interface TurnParts {
  stores: NodeStores
  liveConfig: LiveConfig
  tools: NodeTools
  mcp: NodeMcp
}

/** Builds the runtime, which opens its models at the first turn, and the live turns on top of it. */
export function buildTurns(context: NodeContext, parts: TurnParts): NodeTurns {
  const { options, now, shutdown } = context
  const { paths, log } = options
  const { stores, liveConfig, tools, mcp } = parts
  const running = new RunningTurns()
  const asks = new Asks({ timeoutMs: ASK_TIMEOUT_MS })
  const known = new KnownAgents(tools.hook)
  const watches = new DisposableStack()
  const runtime = lazy(async () => {
    await liveConfig.models(shutdown)
    const opened = openRuntime(context, parts, { known, running, asks })
    if (options.daemon !== undefined || options.isInteractive) {
      const release = (isTrusted: IsTrustedFile) =>
        opened.releaseServers(isTrusted).catch((reason: unknown) => log('warn', String(reason)))
      watches.use(watchServerTrust(paths, release))
    }
    return opened
  })
  const agentSync = new AgentSync({ agents: stores.agents, hook: tools.hook, known, log })
  const migrate: Services['migrate'] = (log) =>
    migrateServers({ paths, lock: (resource) => stores.lock(resource, shutdown), log })
  const reloads = reloader({
    ...{ liveConfig, agentSync, subscriptions: stores.subscriptions, skills: tools.skills },
    ...{ servers: mcp.openedServers, components: tools.components, migrate, log, shutdown },
  })
  const currentRuntime = async (signal: AbortSignal) => {
    await reloads.config(signal)
    return await abortable(runtime.get(), signal)
  }
  const journals = new Journals()
  const followers = new Followers({ leases: stores.leases, journals })
  const events = new Broadcast<DaemonEvent>()
  const live: LiveTurns = new LiveTurns({
    runtime: currentRuntime,
    journals,
    observers: [
      (run, event) => events.publish({ type: 'turn', at: now(), run, event }),
      (run, event) => bus?.observe(run, event),
    ],
    shutdown,
    now,
    newId: newUlid,
  })
  const bus: DaemonBus | undefined =
    options.daemon &&
    openBus({ subscriptions: stores.subscriptions, events, live: () => live, log, shutdown, now })
  return {
    ...{ running, asks, live, journals, followers, events, bus, agentSync, migrate, reloads },
    runtime: currentRuntime,
    async settled() {
      await live.settled()
      await bus?.bus.settled()
      await agentSync.settled()
    },
    async [Symbol.asyncDispose]() {
      watches.dispose()
      const opened = await runtime.current?.catch(() => undefined)
      await opened?.[Symbol.asyncDispose]()
    },
  }
}

function openRuntime(
  { options, now }: NodeContext,
  { stores, liveConfig, tools }: TurnParts,
  turns: { known: KnownAgents; running: RunningTurns; asks: Asks },
): Runtime {
  const { paths, cwd, homeDir, log } = options
  return new Runtime({
    agents: withLastGood({ store: stores.agents, known: turns.known, log }),
    config: () => liveConfig.current,
    hook: tools.hook,
    ...turns,
    stores: stores.stores,
    scratch: openScratchStores(now),
    ...{ defaultCwd: cwd, workspaces: paths.workspace, homeDir },
    spill: join(paths.cache, 'output'),
    undo: paths.undo,
    log,
    now,
    newId: newUlid,
  })
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

/** The dependencies of `withLastGood()`. */
interface LastGoodOptions {
  store: Pick<AgentStore, 'get' | 'rules' | 'addRule'>
  known: Pick<KnownAgents, 'all'>
  log: Log
}

/**
 * Wraps the agent store for turns: an agent whose file has become invalid keeps its last good configuration,
 * including its rules (ADR 0108).
 */
function withLastGood({ store, known, log }: LastGoodOptions): Agents {
  const useLastGood = (name: string, reason: unknown): AgentConfig => {
    const lastGood = known.all().find((agent) => foldName(agent.name) === foldName(name))
    if (!lastGood || !(reason instanceof CrabError) || reason.kind !== 'config') throw reason
    log('warn', `${reason.message}; the agent keeps its previous configuration`, { agent: lastGood.name })
    return lastGood
  }
  return {
    get: (name, options) => store.get(name, options).catch((reason: unknown) => useLastGood(name, reason)),
    rules: (name) => store.rules(name).catch((reason: unknown) => pickRules(useLastGood(name, reason))),
    addRule: (name, rule) => store.addRule(name, rule),
  }
}

function pickRules({ name, permissions, mcps }: AgentConfig) {
  const place = () => `agents/${name}.toml (previous version)`
  return [...toRules(permissions, place), ...mcps.flatMap((entry) => entryRules(entry, place))]
}
