import type { Effort } from '../base/effort.ts'
import type { Attachment, JsonObject } from '../base/message.ts'
import type { McpEntry } from '../config/mcp-entry.ts'
import type { ApprovalMode, Trust } from '../policy/types.ts'
import type { RetryPolicy } from '../provider/types.ts'

/** The tools a turn may use: none, the read-only ones, or all that the agent has. */
export type ToolMode = 'none' | 'read' | 'all'

/**
 * The handling of questions: `client` sends them to the client, `deny` answers no, `fail` fails the turn,
 * `park` waits until any client answers.
 */
export type OnAsk = 'client' | 'deny' | 'fail' | 'park'

/** The settings that a client may change for one turn; they are never stored. */
export interface TurnSettings {
  model?: string
  /** Whether the model and the effort are stored as the choice of the conversation. */
  keepsModel?: boolean
  /** Replaces the agent's prompt. */
  system?: string
  tools?: ToolMode
  mode?: ApprovalMode
  /** Permission rules, such as `bash(git commit *)`. */
  allow?: readonly string[]
  ask?: readonly string[]
  deny?: readonly string[]
  /** `deny` when absent. */
  onAsk?: OnAsk
  /**
   * Whether the client has said that it answers questions and its disconnecting ends the turn: its questions
   * then have no time limit.
   */
  isAttended?: boolean
  /**
   * Whether the client asks its user about trusting a new folder; otherwise the user only gets a notice (ADR
   * 0169).
   */
  asksTrust?: boolean
  /** Whether the turn runs without MCP servers, even those that the agent declares. */
  noMcp?: boolean
  /** Additional MCP servers; they stay with the conversation until a turn of it comes without them. */
  mcps?: readonly McpEntry[]
  /** A JSON Schema that the final answer must match; the model gets one chance to repair its answer. */
  schema?: JsonObject
  /** The most model calls; the agent's max_iterations when absent. */
  maxTurns?: number
  maxCostUsd?: number
  thinking?: boolean
  /** The share of the context window from which the conversation is compacted by itself; absent: never. */
  compactAt?: number
  effort?: Effort
  retries?: number
  /** Patient for unattended and delegated turns when absent, quick for others. */
  retryPolicy?: RetryPolicy
  attachments?: readonly Attachment[]
  /** Whether nothing of the conversation is written to disk. */
  ephemeral?: boolean
  /**
   * Whether it is a side question: it sees the conversation without being part of it, beside a running turn,
   * and has no tools (ADR 0195). Such a turn is `ephemeral`, too.
   */
  side?: boolean
  /** Added directories, absolute; rules and modes treat their files like those of the working directory. */
  roots?: readonly string[]
  /** The caller's environment, for tools that start processes. */
  env?: Readonly<Record<string, string>>
}

/** A conversation to replace with a summary. */
export interface CompactionRequest extends Pick<TurnRequest, 'agent' | 'sender' | 'trust'> {
  /** The model that writes it; absent: the conversation's, else the agent's. */
  model?: string
  /** Another session of the pair; absent: the active one. */
  session?: string
  /** The user's wish for the summary. */
  focus?: string
}

/** One message to the conversation (agent, sender). */
export interface TurnRequest {
  agent: string
  sender: string
  /** The origin of the message, as the server determined it. */
  trust: Trust
  content: string
  /** The working directory of this run; the conversation's own when absent. */
  cwd?: string
  /** The agent that answers as a guest. */
  guest?: string
  /** `auto`, `none`, `required` or the name of a tool; applies to the first model call. */
  toolChoice?: string
  /**
   * Queried when the turn ends: whether a follower receives the steering messages that came too late;
   * otherwise they are stored.
   */
  returnsSteers?(): boolean
  /** The id of the run, a ULID; a new one when absent. */
  runId?: string
  /** Called once the turn is accepted and waits for its conversation. */
  accepted?(): void
  settings: TurnSettings
}
