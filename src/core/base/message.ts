/** A JSON object as a provider or a file carries it. */
export type JsonObject = { [key: string]: unknown }

/** A tool the model asked for. `arguments` is the JSON text exactly as the model wrote it. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
  /** Opaque provider data that must travel back with the call. */
  meta?: JsonObject
}

/** One block of a model's thinking; `meta` (a signature, say) must travel back unchanged. */
export interface Reasoning {
  text: string
  meta?: JsonObject
}

/** A file that travels with a message. `data` is base64. */
export interface Attachment {
  media_type: string
  data: string
  name?: string
}

/**
 * One message of a conversation, in the shape the session file stores and providers need.
 *
 * The keys are those on disk. A `tool` message answers the call whose id is `tool_call_id`.
 */
export interface Message {
  role: 'user' | 'assistant' | 'tool'
  content: string
  /** Of a `user` message: what the person typed, where `content` was made of it. */
  typed?: string
  attachments?: Attachment[]
  reasoning?: Reasoning[]
  tool_calls?: ToolCall[]
  tool_call_id?: string
  /** Of a `tool` message: the tool's name. */
  name?: string
  /** Of a `tool` message: the tool reported a failure. */
  is_error?: boolean
  /** The guest that spoke; absent for the conversation's own agent. */
  agent?: string
  /** Of an `assistant` message that is not a complete answer. */
  stop_reason?: 'cancelled' | 'length' | 'failed'
}

/** Tokens of one or several model calls. `input` includes what was read from and written to the cache. */
export interface Usage {
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
}

/** No tokens at all. */
export const NO_USAGE: Readonly<Usage> = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    reasoning: a.reasoning + b.reasoning,
  }
}
