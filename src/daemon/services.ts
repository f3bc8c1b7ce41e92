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
import type { UsageCatalog } from '../core/storage/usage-catalog.ts'
import type { McpFrame, McpServers } from '../mcp/types.ts'
import type { AgentSync } from './agent-sync.ts'
import type { VaultKeyReader } from './attaching-process.ts'
import type { Components } from './components/components.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { DaemonBus } from './event-bus.ts'
import type { Followers } from './followers.ts'
import type { SessionSearch } from './lazy-session-index.ts'
import type { LiveConfig } from './live-config.ts'
import type { Reloads } from './reload.ts'

/** The facts and controls that only the node of a daemon has. */
export interface DaemonSelf {
  /** The start time in milliseconds since 1970. */
  readonly startedAt: number
  /** The idle timeout in milliseconds; undefined means that the daemon never exits by itself. */
  readonly idleExitMs: number | undefined
  /** Returns the addresses on which it listens, as `formatEndpoint` writes them. */
  endpoints(): readonly string[]
  /** Returns the number of connected clients. */
  connections(): number
  /** Returns the resident memory in bytes. */
  memoryBytes(): number
  /** Starts the shutdown, as SIGTERM does. */
  stop(): void
}

/** The options of a node. */
export interface NodeOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  /** The id of this process, which other processes see as the holder of leases. */
  pid: number
  /** The id of the user that this process runs as. */
  uid: number
  /** The working directory of conversations whose client does not name one. */
  cwd: string
  /** The user's home directory; empty when there is none. */
  homeDir: string
  /** Returns the path of a ripgrep, unpacked into `cacheDir` if necessary; undefined when there is none. */
  ripgrep(cacheDir: string): Promise<string | undefined>
  /**
   * Returns the code that the search worker runs, as source text or as a file; undefined when there is none.
   */
  searchWorker(): Promise<string | URL | undefined>
  /** Returns the command that starts this program again; absent when it is embedded in another program. */
  ownCommand?: () => Promise<readonly string[]>
  /**
   * Returns the key of a provider from the vault, without another process. Absent in a daemon, which knows no vault: it
   * runs the program that prints the key.
   */
  readVaultKey?: VaultKeyReader | undefined
  log: Log
  /** Whether the node stays for many turns, as that of a chat does. */
  isInteractive?: boolean
  /** Absent when the node serves one command, in that command's process. */
  daemon?: DaemonSelf
}

/** The options, the clock and the shutdown signal of a node, which its builders share. */
export interface NodeContext {
  options: NodeOptions
  now(): number
  /** Waits for a time in milliseconds without keeping the process alive. Rejects when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<unknown>
  /** Aborted when the node shuts down. */
  shutdown: AbortSignal
}

/**
 * The parts of a node that its handlers and builders share; each picks the ones it uses. Expensive parts are created
 * on first use.
 */
export interface Services extends AsyncDisposable {
  readonly node: NodeOptions
  readonly agents: AgentStore
  readonly stores: ConversationStores
  readonly memory: MemoryStore
  /** The usage in all stored sessions. */
  readonly usage: UsageCatalog
  /** The search over all stored sessions. */
  readonly sessionIndex: SessionSearch
  /** The work in progress in this process. */
  readonly running: RunningTurns
  /** The pending questions of this process. */
  readonly asks: Asks
  /** Runs every turn of this process. */
  readonly live: LiveTurns
  readonly journals: Journals
  /** Counts the clients that follow each conversation. */
  readonly followers: Followers
  /** Broadcasts everything that happens in this process: the events of every turn, and published events. */
  readonly events: Broadcast<DaemonEvent>
  readonly subscriptions: SubscriptionStore
  /** Undefined outside a daemon, where subscriptions do not fire (ADR 0107). */
  readonly bus: DaemonBus | undefined
  readonly liveConfig: LiveConfig
  models(signal: AbortSignal): Promise<ModelRegistry>
  /** Returns the process that currently holds a lease, if any. */
  findHolder(resource: string): Promise<LeaseHolder | undefined>
  readonly hook: Hook
  /** The components announced by port files; agents get them through the hook. */
  readonly components: Components
  runtime(signal: AbortSignal): Promise<Runtime>
  /** Returns the MCP servers of this node's agents. */
  mcp(signal: AbortSignal): Promise<McpServers>
  /** Broadcasts the events of MCP servers, once for each owner. */
  readonly mcpEvents: Broadcast<McpServerEvent>
  /** Broadcasts every message to and from MCP servers. */
  readonly mcpFrames: Broadcast<McpFrame>
  /** Must be notified of every change to an agent. */
  readonly agentSync: AgentSync
  /** Scans the available skills; each call scans again. */
  skills(): Promise<{ skills: readonly Skill[]; problems: readonly SkillProblem[] }>
  /** Migrates agent files of older formats; must be called before any agent is read. See `migrateServers()`. */
  migrate(log: (level: 'info' | 'warn', message: string) => void): Promise<void>
  readonly reloads: Reloads
  /** Returns the permission rules of config.toml. */
  rules(): Promise<readonly Rule[]>
  /** Returns the working directory of a new conversation whose client did not choose one. */
  defaultCwd(pair: TurnPair, trust: Trust): Promise<string>
  now(): number
}
