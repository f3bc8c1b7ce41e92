import type { Attachment, JsonObject } from '../base/message.ts'

/** Which tools a turn may use at all: none, those that only read, or what the agent has. */
export type ToolMode = 'none' | 'read' | 'all'

/** What a client may change for one turn; nothing of it is stored. */
export interface TurnSettings {
  model?: string
  /** Replaces the agent's prompt. */
  system?: string
  tools?: ToolMode
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
  content: string
  /** Working directory of this run; the conversation's own when absent. */
  cwd?: string
  /** The agent that answers as a guest. */
  guest?: string
  /** `auto`, `none`, `required` or a tool's name; holds for the first model call. */
  toolChoice?: string
  settings: TurnSettings
}
