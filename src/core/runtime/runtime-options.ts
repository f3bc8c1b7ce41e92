import type { Log } from '../base/log.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { Rule } from '../policy/types.ts'
import type { Provider } from '../provider/types.ts'
import type { Asks } from './asks.ts'
import type { Hook } from './hook.ts'
import type { KnownAgents } from './known-agents.ts'
import type { ConversationStores } from './leased-conversation.ts'
import type { RunningTurns } from './running-turns.ts'

/** Where agents come from. `create: false` gives the default agent without writing it. */
export interface Agents {
  get(name: string, options?: { create?: boolean }): Promise<AgentConfig>
  /** The rules of permission in the agent's file. */
  rules(name: string): Promise<Rule[]>
  /** Adds a rule that allows to the agent's file; one that is there stays. */
  addRule(name: string, rule: string): Promise<void>
}

/** What a reload may change; a turn keeps to what it began with. */
export interface TurnConfig {
  provider: Provider
  /** The rules of permission that hold for every agent. */
  rules: readonly Rule[]
  /** What turns are to say of it, as a sentence without a full stop. */
  warning?: string
}

/** What the runtime is made of. */
export interface RuntimeOptions {
  agents: Agents
  /** As it is now. */
  setting(): TurnConfig
  hook: Hook
  /** Whom the hook was told of, where others tell it too; absent: nobody else does. */
  known?: KnownAgents
  /** Conversations that last. */
  place: ConversationStores
  /** Conversations that are forgotten. */
  scratch: ConversationStores
  /** What runs in this process; turns enter themselves. */
  running: RunningTurns
  /** The questions that wait for an answer now. */
  asks: Asks
  /** Gets the errors that a class of turns may not read; absent: they are dropped. */
  log?: Log
  /** Working directory of a new local conversation whose client named none. */
  defaultCwd: string
  /** The folder whose subfolders remote and unattended turns work in (turnFolder()). Without it they work where local turns do. */
  workspaces?: string
  /** The person's own directory; empty when there is none. */
  homeDir: string
  /** Where tools may put what is too long for an answer; a folder per conversation is made in it. */
  spill: string
  /** Where what files were before a turn is kept for undo, in a folder per session and turn; absent: nothing is kept. */
  undo?: string
  /** Milliseconds since 1970. */
  now(): number
  /** A fresh ULID. */
  newId(): string
}
