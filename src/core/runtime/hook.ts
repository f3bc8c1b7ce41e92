import type { Attachment } from '../base/message.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { AgentEvent } from './events.ts'

/** One tool call on its way to the hook that owns it. */
export interface ToolDispatch {
  callId: string
  /** Parsed arguments; always an object. */
  args: Record<string, unknown>
  agent: AgentConfig
  sender: string
  session: string
  /** Working directory of this run, absolute. */
  cwd: string
  /** Environment of the caller, for tools that start processes. */
  env: Readonly<Record<string, string>>
}

/** What a tool answers. A failure is data: the model reads it and goes on. */
export interface ToolOutput {
  output: string
  isError: boolean
  attachments?: Attachment[]
}

/**
 * The one way the runtime reaches tools and per-agent capabilities (RFC 0075).
 *
 * Every member may be left out. A hook owns the tools it declares: what it advertises is what it dispatches.
 */
export interface Hook {
  /** The tools this hook owns, in the order the model sees them. */
  schema?(): readonly ToolSpec[]
  /** Standing instructions added to every agent's system prompt. */
  systemPrompt?(): string | undefined
  /** What a model should know of the place it works in (environment, instruction files); asked for every turn, never stored. */
  context?(cwd: string): Promise<string | undefined>
  /** Changes an agent's config when it is built; never stored. */
  onBuildAgent?(config: AgentConfig): AgentConfig
  onRegisterAgent?(config: AgentConfig): Promise<void>
  onUnregisterAgent?(config: AgentConfig): Promise<void>
  /** Sees every event of every turn, in order. Must not throw and must not wait. */
  onEvent?(agent: string, session: string, event: AgentEvent): void
  /** Rewrites a user message before it enters the conversation; undefined passes it through. */
  preprocess?(agent: AgentConfig, content: string): Promise<string | undefined>
  /** Which of its tools this agent may call, and a line for the `<scope>` block. Default: all, and no line. */
  scopedTools?(config: AgentConfig): { tools: readonly string[]; scope?: string }
  /** Runs a tool this hook owns; undefined when it does not own the name. Must settle soon after an abort: the turn waits for it. */
  dispatch?(name: string, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> | undefined
}
