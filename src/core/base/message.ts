/** A JSON object as it comes from a provider or a file. */
export type JsonObject = { [key: string]: unknown }

/** A tool call that the model requested. `arguments` is the JSON text exactly as the model wrote it. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
  /** Opaque provider data that must be sent back with the call. */
  meta?: JsonObject
}

/** One block of a model's reasoning. `meta` (a signature, for example) must be sent back unchanged. */
export interface Reasoning {
  text: string
  meta?: JsonObject
}

/** A file attached to a message. `data` is base64. */
export interface Attachment {
  media_type: string
  data: string
  name?: string
}

/**
 * One message of a conversation, in the shape that the session file stores and providers need.
 *
 * The keys are those of the session file. A `tool` message answers the call whose id is `tool_call_id`.
 */
export interface Message {
  role: 'user' | 'assistant' | 'tool'
  content: string
  /** The user's own input, when `content` was built from it. Only on `user` messages. */
  typed?: string
  attachments?: Attachment[]
  reasoning?: Reasoning[]
  tool_calls?: ToolCall[]
  tool_call_id?: string
  /** The tool's name. Only on `tool` messages. */
  name?: string
  /** Whether the tool reported a failure. Only on `tool` messages. */
  is_error?: boolean
  /** The MCP servers whose instructions the content contains. Only on `tool` messages. */
  introduces?: string[]
  /** The guest agent that wrote the message; absent for the conversation's own agent. */
  agent?: string
  /** The reason why an `assistant` message is not a complete answer. */
  stop_reason?: 'cancelled' | 'length' | 'failed'
}

/** Token counts of one or more model calls. `input` includes cache reads and cache writes. */
export interface Usage {
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
}

/** A usage of zero tokens. */
export const NO_USAGE: Readonly<Usage> = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }

/** Returns the sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    reasoning: a.reasoning + b.reasoning,
  }
}
