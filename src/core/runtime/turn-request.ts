import type { Attachment, JsonObject } from '../base/message.ts'
import type { McpEntry } from '../config/mcp-entry.ts'
import type { ApprovalMode, Trust } from '../policy/types.ts'

/** Which tools a turn may use at all: none, those that only read, or what the agent has. */
export type ToolMode = 'none' | 'read' | 'all'

/** What becomes of a question: a client is told and answers, it is answered with no, it fails the turn, or it waits for anybody. */
export type OnAsk = 'client' | 'deny' | 'fail' | 'park'

/** What a client may change for one turn; nothing of it is stored. */
export interface TurnSettings {
  model?: string
  /** Replaces the agent's prompt. */
  system?: string
  tools?: ToolMode
  mode?: ApprovalMode
  /** Rules of permission, such as `bash(git commit *)`. */
  allow?: readonly string[]
  ask?: readonly string[]
  deny?: readonly string[]
  /** `deny` when absent. */
  onAsk?: OnAsk
  /** The client said that it answers questions, and its leaving ends the turn: questions have no time limit. */
  isAttended?: boolean
  /** The client puts the question whether to trust a new folder to its user; else the user is told of the folder. */
  asksTrust?: boolean
  /** No MCP server, whatever the agent declares. */
  noMcp?: boolean
  /** Further MCP servers; they stay with the conversation until a turn of it comes without them. */
  mcps?: readonly McpEntry[]
  /** A JSON Schema the final answer must meet; one repair is asked for. */
  schema?: JsonObject
  /** Model calls at most; the agent's max_iterations when absent. */
  maxTurns?: number
  maxCostUsd?: number
  thinking?: boolean
  retries?: number
  attachments?: readonly Attachment[]
  /** Nothing of the conversation is written anywhere. */
  ephemeral?: boolean
  /** The caller's environment, for tools that start processes. */
  env?: Readonly<Record<string, string>>
}

/** One message to the conversation (agent, sender). */
export interface TurnRequest {
  agent: string
  sender: string
  /** Where the message came from, as the server knows it. */
  trust: Trust
  content: string
  /** Working directory of this run; the conversation's own when absent. */
  cwd?: string
  /** The agent that answers as a guest. */
  guest?: string
  /** `auto`, `none`, `required` or a tool's name; holds for the first model call. */
  toolChoice?: string
  /** Asked at its end: whether somebody follows it who is told what was said to it too late; else that is stored. */
  returnsSteers?(): boolean
  /** Names the run, a ULID; a fresh one when absent. */
  runId?: string
  /** Called when nothing refuses the turn any more and it waits for its conversation. */
  accepted?(): void
  settings: TurnSettings
}
