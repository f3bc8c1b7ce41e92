import type { Attachment } from '../base/message.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { PolicyAction, Trust } from '../policy/types.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { AskAnswers, Denial, Question } from './asks.ts'
import type { AgentEvent } from './events.ts'
import type { SelectedTools } from './selected-tools.ts'

/** A tool call that has not been permitted yet. */
export interface ToolRequest {
  /** Parsed arguments; always an object. */
  args: Record<string, unknown>
  agent: AgentConfig
  /** Working directory of this run: absolute, links resolved. */
  cwd: string
  /** Environment of the caller, for tools that start processes; absent where a call is only explained. */
  env?: Readonly<Record<string, string>>
}

/** One tool call on its way to the hook that owns it. */
export interface ToolDispatch extends ToolRequest {
  callId: string
  sender: string
  /** The class of the turn. */
  trust: Trust
  session: string
  /** The run it belongs to, for those who watch. */
  runId: string
  /** Environment of the caller, for tools that start processes. */
  env: Readonly<Record<string, string>>
  /** What was permitted; a path in it is the one that was judged, and the only one to be touched. */
  action: PolicyAction
  /** Files of which this conversation knows what is in them. */
  files: KnownFiles
  /** Where a tool may put what is too long for its answer; absolute, perhaps not there yet. The model may read it. */
  spillDir: string
  /** Where a tool keeps what a file was before this turn first changed it, for undo; undefined: nothing is kept. */
  keepDir?: string | undefined
  /** Aborted when the turn is over, however it ended: what a call left running ends then. */
  turnOver: AbortSignal
  /** Says how far the call is; shown, never stored. `progress` and `total` count in the tool's own unit. */
  progress(report: { message: string; progress?: number; total?: number }): void
  /** Tells the turn's client something that is no failure; shown, never stored. */
  notice(message: string): void
  /** The tools of this turn are others now: before its next model call every hook is asked for them again. */
  offerAgain(): void
  /** Whether a search of a permitted folder may show that file; absolute, without links. */
  mayShow(path: string): boolean
  /**
   * Puts questions to a person; an abort takes them back. Throws `denied` when nobody can be asked, `timeout` when nobody
   * answered.
   */
  ask(
    questions: readonly Question[],
    kind: 'question' | 'elicitation',
    signal?: AbortSignal,
  ): Promise<AskAnswers>
}

/** The version of a file that the model last saw or wrote, by resolved path; stored with the conversation. */
export interface KnownFiles {
  get(path: string): string | undefined
  set(path: string, version: string): void
}

/** What a tool answers. A failure is data: the model reads it and goes on. */
export interface ToolOutput {
  output: string
  isError: boolean
  attachments?: Attachment[]
  /** Set when the call was not permitted and did nothing. */
  denial?: Denial
}

/** The turn that asks a hook for its tools. */
export interface ToolsTurn {
  /** Tells the turn's client something while it waits. */
  tell(event: AgentEvent): void
  signal: AbortSignal
  /** Aborted when the turn is over: until then what it was offered can be called. Absent: nothing is kept for it. */
  over?: AbortSignal
  /** Where the turn comes from; absent: somebody at this machine looks at what an agent has. */
  trust?: Trust
  /** The conversation's id; absent when this is only a look at what an agent has. */
  session?: string
  /** Whether the agent and the client let the turn have a tool; absent: it may have all. The runtime asks as well. */
  keeps?(tool: ToolSpec): boolean
  /** The tool that the model has to call first, by whatever name the client gave. */
  wanted?: string | undefined
  /** What the conversation has selected where an agent has too many tools to show. */
  selection?: SelectedTools
}

/** The turn whose system prompt is made. */
export interface ContextTurn {
  /** The turn leaves nothing on the disk, so that hooks remember nothing either. */
  ephemeral?: boolean
  /** The class of the turn. */
  trust: Trust
  /** Tells the turn's client something that is no failure. */
  notice(message: string): void
  /** Puts questions to the user; undefined when they are not answered. Absent when this client is not to be asked. */
  ask?: ((questions: readonly Question[]) => Promise<AskAnswers | undefined>) | undefined
  signal: AbortSignal
}

/** Tools that belong together, for a model that is not shown all of them. */
export interface ToolGroup {
  /** One word: `files`, `mcp:github`. */
  id: string
  title: string
  description: string
  /** How they want to be used; the words of a server are untrusted, and shown in tool results only. */
  instructions?: string
  /** Names as a model calls them; there may be some that a turn does not have. */
  tools: readonly string[]
  /** The MCP server whose tools they are, by its agent's name for it; absent: they are built in. */
  server?: string
}

/** A message of a user on its way into the conversation. */
export interface UserMessage {
  /** With the servers that the client attached. */
  agent: AgentConfig
  content: string
  trust: Trust
  /** Where the rest of what is too long for the message may be put; absolute, perhaps not there yet. */
  spillDir: string
  /** Tells the turn's client what it should know. */
  notice(message: string): void
  /** Adds a file that the model sees with the message. */
  attach(file: Attachment): void
}

/**
 * The one way the runtime reaches tools and per-agent capabilities (RFC 0075).
 *
 * Every member may be left out. A hook owns the tools it declares: what it advertises is what it dispatches.
 */
export interface Hook {
  /** The tools this hook has for an agent, in the order the model sees them; asked for every turn. */
  schema?(agent: AgentConfig, turn: ToolsTurn): readonly ToolSpec[] | Promise<readonly ToolSpec[]>
  /** The groups its tools belong to, as they were offered last. */
  groups?(agent: AgentConfig): readonly ToolGroup[]
  /**
   * Why a tool cannot be called that a turn was not offered, as a sentence for the model; undefined when it knows nothing
   * of it. `turnOver` is that of the turn.
   */
  whyNot?(name: string, turnOver: AbortSignal): string | undefined
  /** Standing instructions for the system prompt of a turn that may have the tools `keeps` says. */
  systemPrompt?(keeps: (tool: ToolSpec) => boolean): string | undefined
  /** What a model should know of the place it works in (environment, instruction files); asked for every turn, never stored. */
  context?(cwd: string, turn: ContextTurn): Promise<string | undefined>
  /** Changes an agent's config when it is built; never stored. */
  onBuildAgent?(config: AgentConfig): AgentConfig
  /** An agent is known from now on, or has changed. */
  onRegisterAgent?(config: AgentConfig): Promise<void>
  onUnregisterAgent?(config: AgentConfig): Promise<void>
  /** Sees every event of every turn, in order. Must not throw and must not wait. */
  onEvent?(agent: string, session: string, event: AgentEvent): void
  /** Rewrites a user message before it enters the conversation; undefined passes it through. */
  preprocess?(message: UserMessage, signal: AbortSignal): Promise<string | undefined>
  /** A line for the `<scope>` block of the system prompt: what limits this agent. */
  scope?(config: AgentConfig): string | undefined
  /**
   * What a call of a tool this hook owns would do, for the policy; undefined when it does not own the name.
   *
   * Throws `invalid` for arguments that make no sense. Without it, a call needs permission unless its tool only reads.
   */
  describe?(name: string, request: ToolRequest): Promise<PolicyAction> | undefined
  /** Runs a tool this hook owns; undefined when it does not own the name. Must settle soon after an abort: the turn waits for it. */
  dispatch?(name: string, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> | undefined
}
