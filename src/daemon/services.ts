import type { Log } from '../core/base/log.ts'
import type { SubscriptionStore } from '../core/bus/subscription-store.ts'
import type { AgentStore } from '../core/config/agents.ts'
import type { HomePaths } from '../core/config/paths.ts'
import type { LeaseHolder } from '../core/lease/sqlite-leases.ts'
import type { MemoryStore } from '../core/memory/memory-store.ts'
import type { TurnPair } from '../core/policy/class-rights.ts'
import type { Rule, Trust } from '../core/policy/types.ts'
import type { ModelRegistry } from '../core/provider/registry.ts'
import type { Asks } from '../core/runtime/asks.ts'
import type { McpServerEvent } from '../core/runtime/events.ts'
import type { Hook } from '../core/runtime/hook.ts'
import type { ConversationStores } from '../core/runtime/leased-conversation.ts'
import type { Broadcast } from '../core/runtime/live/broadcast.ts'
import type { Journals } from '../core/runtime/live/journals.ts'
import type { LiveTurns } from '../core/runtime/live/live-turns.ts'
import type { RunningTurns } from '../core/runtime/running-turns.ts'
import type { Runtime } from '../core/runtime/runtime.ts'
import type { Skill, SkillProblem } from '../core/skills/scan-skills.ts'
import type { McpFrame, McpServers } from '../mcp/types.ts'
import type { AgentSync } from './agent-sync.ts'
import type { Components } from './components/components.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { DaemonBus } from './event-bus.ts'
import type { SessionSearch } from './lazy-session-index.ts'
import type { LiveConfig } from './live-config.ts'
import type { Reloads } from './reload.ts'

/** What only a node that is a daemon has. */
export interface DaemonSelf {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** After so long without clients and turns it ends, milliseconds; undefined: never. */
  readonly idleExitMs: number | undefined
  /** Where it listens, as `formatEndpoint` writes it. */
  endpoints(): readonly string[]
  /** Clients now. */
  connections(): number
  /** Resident memory, bytes. */
  memoryBytes(): number
  /** Begins to end it, as SIGTERM does. */
  stop(): void
}

/** Where a node stands. */
export interface NodeOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  /** Of this process, so that others can be told who holds what. */
  pid: number
  /** The user this process runs as. */
  uid: number
  /** Working directory of conversations whose client names none. */
  cwd: string
  /** The person's own directory; empty when there is none. */
  homeDir: string
  /** Path of a ripgrep to run, made ready in that folder where it must be; undefined when there is none. */
  ripgrep(cacheDir: string): Promise<string | undefined>
  /** What the worker of the search runs: its text, or its file; undefined when there is none. */
  searchWorker(): Promise<string | URL | undefined>
  log: Log
  /** Absent: it serves one command, in that command's process. */
  daemon?: DaemonSelf
}

/** Everything a handler may use. What costs time is made when it is first asked for. */
export interface Services extends AsyncDisposable {
  readonly node: NodeOptions
  readonly agents: AgentStore
  readonly place: ConversationStores
  readonly memory: MemoryStore
  /** The search over all sessions that last. */
  readonly sessionIndex: SessionSearch
  /** What runs in this process. */
  readonly running: RunningTurns
  /** The questions of this process that wait for an answer. */
  readonly asks: Asks
  /** Every turn of this process goes through it. */
  readonly live: LiveTurns
  readonly journals: Journals
  /** Everything that happens in this process: the events of every turn, and what is published. */
  readonly events: Broadcast<DaemonEvent>
  readonly subscriptions: SubscriptionStore
  /** Of a daemon; only there subscriptions fire (decision 31). */
  readonly bus: DaemonBus | undefined
  readonly setting: LiveConfig
  models(signal: AbortSignal): Promise<ModelRegistry>
  /** The process that holds a lease now, if one does. */
  findHolder(resource: string): Promise<LeaseHolder | undefined>
  readonly hook: Hook
  /** What port files announce; agents get it through the hook. */
  readonly components: Components
  runtime(signal: AbortSignal): Promise<Runtime>
  /** The MCP servers of this node's agents. */
  mcp(signal: AbortSignal): Promise<McpServers>
  /** What happens to MCP servers, once for each owner. */
  readonly mcpEvents: Broadcast<McpServerEvent>
  /** Every message to and from MCP servers. */
  readonly mcpFrames: Broadcast<McpFrame>
  /** Must hear of every change to an agent. */
  readonly roster: AgentSync
  /** What can be taught to agents here, read anew each time. */
  skills(): Promise<{ skills: readonly Skill[]; problems: readonly SkillProblem[] }>
  /** Brings agents of an older form to that of today; to be done before any is read. See migrateServers(). */
  migrate(tell: (level: 'info' | 'warn', message: string) => void): Promise<void>
  readonly reloads: Reloads
  /** The rules of permission of config.toml. */
  rules(): Promise<readonly Rule[]>
  /** Where a new conversation of an agent works whose client chose no directory. */
  usualCwd(pair: TurnPair, trust: Trust): Promise<string>
  now(): number
}
