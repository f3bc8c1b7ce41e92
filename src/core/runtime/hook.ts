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
  /** The working directory of this run: absolute, links resolved. */
  cwd: string
  /** Added directories, links resolved; their files are treated like those of the working directory. */
  roots?: readonly string[]
  /** The caller's environment, for tools that start processes; absent when a call is only explained. */
  env?: Readonly<Record<string, string>>
}

/** A permitted tool call, as the hook that owns the tool receives it. */
export interface ToolDispatch extends ToolRequest {
  callId: string
  sender: string
  /** The trust class of the turn. */
  trust: Trust
  session: string
  /** The run it belongs to, for observers. */
  runId: string
  /** The caller's environment, for tools that start processes. */
  env: Readonly<Record<string, string>>
  /** The permitted action; a path in it is the one that was judged, and the only one the tool may touch. */
  action: PolicyAction
  /** Whether a result should have the diff of a changed file, because no question has shown it. */
  needsDiff?: boolean
  /** The files whose contents this conversation knows. */
  files: KnownFiles
  /**
   * The folder for output that is too long for the answer; absolute, may not exist yet. The model may read
   * it.
   */
  spillDir: string
  /**
   * The folder for backups of files as they were before this turn first changed them, for undo; undefined
   * when none are kept.
   */
  keepDir?: string | undefined
  /** Aborted when the turn is over, however it ended; anything that a call left running ends then. */
  turnOver: AbortSignal
  /**
   * Reports the progress of the call; shown, never stored. `progress` and `total` count in the tool's own
   * unit.
   */
  progress(report: { message: string; progress?: number; total?: number }): void
  /** Shows the turn's client a message that is not a failure; never stored. */
  notice(message: string): void
  /**
   * Whether the model is still to be given the instructions of an MCP server: true the first time it is asked
   * about a server whose instructions no result in the conversation contains.
   */
  introduce(server: string): boolean
  /**
   * Invalidates the tools of this turn: every hook is queried for its tools again before the next model call.
   */
  offerAgain(): void
  /** Leaves plan mode, because the user has accepted the plan; does nothing in another mode. */
  leavePlanMode(mode: 'ask' | 'edits'): void
  /** Whether a search of a permitted folder may show this file; the path is absolute, without links. */
  mayShow(path: string): boolean
  /**
   * Asks a person; an abort withdraws the questions. Throws `denied` when no person is available, `timeout`
   * when none answered in time.
   */
  ask(
    questions: readonly Question[],
    kind: 'question' | 'elicitation' | 'plan',
    signal?: AbortSignal,
  ): Promise<AskAnswers>
}

/**
 * The version of each file that the model last saw or wrote, by resolved path; stored with the conversation.
 */
export interface KnownFiles {
  get(path: string): string | undefined
  set(path: string, version: string): void
}

/** The result of a tool call. A failure is data: the model reads it and continues. */
export interface ToolOutput {
  output: string
  isError: boolean
  attachments?: Attachment[]
  /** The MCP servers whose instructions the output contains. */
  introduces?: readonly string[]
  /** The unified diff of a changed file, if the call needed one; clients show it, the model does not read it. */
  diff?: string
  /** Set when the call was not permitted and did nothing. */
  denial?: Denial
}

/** The turn that queries a hook for its tools. */
export interface ToolsTurn {
  /** Sends the turn's client an event while it waits. */
  emit(event: AgentEvent): void
  signal: AbortSignal
  /**
   * Aborted when the turn is over: until then the tools that it was offered stay callable. Absent when
   * nothing needs to be kept for it.
   */
  turnOver?: AbortSignal
  /** The trust class of the turn; absent when a local user only inspects an agent's tools. */
  trust?: Trust
  /** The conversation's id; absent when a client only inspects an agent's tools. */
  session?: string
  /**
   * Whether the agent and the client let the turn have a tool; absent when it may have all. The runtime also
   * checks this itself.
   */
  keeps?(tool: ToolSpec): boolean
  /**
   * The tool choice of the client or the agent for the first model call: a tool's name or alias, `auto`,
   * `none` or `required`.
   */
  toolChoice?: string | undefined
  /** The tools that the conversation has selected, when an agent has too many tools to show all. */
  selection?: SelectedTools
  /** Whether the turn is in plan mode and a user can accept its plan. */
  presentsPlan?: boolean
}

/** The turn whose system prompt is being built. */
export interface ContextTurn {
  /** Whether the turn leaves nothing on the disk, so that hooks must not persist anything either. */
  ephemeral?: boolean
  /** The trust class of the turn. */
  trust: Trust
  /** Added directories; rules treat their files like those of the working directory. */
  roots?: readonly string[]
  /** Shows the turn's client a message that is not a failure. */
  notice(message: string): void
  /**
   * Asks the user; returns undefined when the questions are not answered. Absent when this client must not be
   * asked.
   */
  ask?: ((questions: readonly Question[]) => Promise<AskAnswers | undefined>) | undefined
  signal: AbortSignal
}

/** Tools that belong together, for a model that is not shown all of them (ADR 0115). */
export interface ToolGroup {
  /** One word, such as `files` or `mcp:github`. */
  id: string
  title: string
  description: string
  /** Instructions for using the tools. Text from a server is untrusted, and is shown in tool results only. */
  instructions?: string
  /** The names that a model calls the tools by; some of them may not be available in a turn. */
  tools: readonly string[]
  /** The MCP server that provides the tools, by its agent's name for it; absent for built-in tools. */
  server?: string
}

/** A message of a user on its way into the conversation. */
export interface UserMessage {
  /** The agent, including the servers that the client attached. */
  agent: AgentConfig
  content: string
  trust: Trust
  /** The folder for the rest of text that is too long for the message; absolute, may not exist yet. */
  spillDir: string
  /** Shows the turn's client a message. */
  notice(message: string): void
  /** Adds a file that the model sees with the message. */
  attach(file: Attachment): void
}

/**
 * The runtime's only access to tools and per-agent capabilities (ADR 0072).
 *
 * Every member is optional. A hook owns the tools it declares: the name it advertises is the name it
 * dispatches.
 */
export interface Hook {
  /**
   * Returns the tools that this hook has for an agent, in the order the model sees them; called for every
   * turn.
   */
  schema?(agent: AgentConfig, turn: ToolsTurn): readonly ToolSpec[] | Promise<readonly ToolSpec[]>
  /** Returns the groups its tools belong to, as they were last offered. */
  groups?(agent: AgentConfig): readonly ToolGroup[]
  /**
   * Explains, in a sentence for the model, why a tool that the turn was not offered cannot be called;
   * undefined for a name the hook does not know. `turnOver` is the signal of that turn.
   */
  whyNot?(name: string, turnOver: AbortSignal): string | undefined
  /** Returns standing instructions for the system prompt; `keeps` is whether the turn may have a tool. */
  systemPrompt?(keeps: (tool: ToolSpec) => boolean): string | undefined
  /**
   * Returns what a model should know about its working directory (environment, instruction files); called for
   * every turn, never stored.
   */
  context?(cwd: string, turn: ContextTurn): Promise<string | undefined>
  /** Changes an agent's config when it is built; the change is never stored. */
  onBuildAgent?(config: AgentConfig): AgentConfig
  /** Is called when an agent becomes known or has changed. */
  onRegisterAgent?(config: AgentConfig): Promise<void>
  onUnregisterAgent?(config: AgentConfig): Promise<void>
  /** Receives every event of every turn, in order. Must not throw and must not wait. */
  onEvent?(agent: string, session: string, event: AgentEvent): void
  /** Rewrites a user message before it enters the conversation; undefined leaves it unchanged. */
  preprocess?(message: UserMessage, signal: AbortSignal): Promise<string | undefined>
  /** Returns a line for the `<scope>` block of the system prompt about what limits this agent. */
  scope?(config: AgentConfig): string | undefined
  /**
   * Describes to the policy what a call of a tool would do; undefined when the hook does not own the name.
   *
   * Throws `invalid` for arguments that make no sense. Without this member, a call needs permission unless
   * its tool is read-only.
   */
  describe?(name: string, request: ToolRequest): Promise<PolicyAction> | undefined
  /**
   * Runs a tool; undefined when the hook does not own the name. Must settle soon after an abort, because the
   * turn waits for it.
   */
  dispatch?(name: string, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> | undefined
}
