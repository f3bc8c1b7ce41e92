import type { Effort } from '../base/effort.ts'
import type { Log } from '../base/log.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { Rule } from '../policy/types.ts'
import type { Provider } from '../provider/types.ts'
import type { Asks } from './asks.ts'
import type { Hook } from './hook.ts'
import type { KnownAgents } from './known-agents.ts'
import type { ConversationStores } from './leased-conversation.ts'
import type { RunningTurns } from './running-turns.ts'

/** The source of agents. `create: false` returns the default agent without writing its file. */
export interface Agents {
  get(name: string, options?: { create?: boolean }): Promise<AgentConfig>
  /** Reads the permission rules in the agent's file. */
  rules(name: string): Promise<Rule[]>
  /** Adds an `allow` rule to the agent's file, unless the file already has it. */
  addRule(name: string, rule: string): Promise<void>
}

/** The configuration that a reload may change; a turn keeps the one it began with. */
export interface TurnConfig {
  provider: Provider
  /** The reasoning effort of agents that do not name one; absent: the provider's default. */
  effort?: Effort
  /** The permission rules that hold for every agent. */
  rules: readonly Rule[]
  /** A warning about the configuration that every turn reports, as a sentence without a full stop. */
  warning?: string
}

/** The dependencies of a runtime. */
export interface RuntimeOptions {
  agents: Agents
  /** Returns the current configuration. */
  config(): TurnConfig
  hook: Hook
  /**
   * The registrations of agents with the hook, when others than the runtime register agents too; otherwise
   * absent.
   */
  known?: KnownAgents
  /** The stores of persistent conversations. */
  stores: ConversationStores
  /** The stores of conversations that are not persisted. */
  scratch: ConversationStores
  /** The work that runs in this process; turns add themselves. */
  running: RunningTurns
  /** The pending questions. */
  asks: Asks
  /** Receives the errors that turns of some trust classes may not read; absent: they are dropped. */
  log?: Log
  /** The working directory of a new local conversation whose client named none. */
  defaultCwd: string
  /**
   * The folder in whose subfolders remote and unattended turns work (see turnFolder()). Without it they work
   * where local turns do.
   */
  workspaces?: string
  /** The user's home directory; empty when there is none. */
  homeDir: string
  /** The folder for tool output that is too long for an answer; each conversation gets a subfolder. */
  spill: string
  /**
   * The folder for backups of files from before a turn, for undo, with a subfolder per session and turn;
   * absent: none are kept.
   */
  undo?: string
  /** Milliseconds since 1970. */
  now(): number
  /** A fresh ULID. */
  newId(): string
}
