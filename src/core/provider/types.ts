import type { CrabError } from '../base/errors.ts'
import type { JsonObject, Message, ToolCall, Usage } from '../base/message.ts'

/** A tool as the model sees it. `parameters` is a JSON Schema object. */
export interface ToolSpec {
  name: string
  description: string
  parameters: JsonObject
  /** It changes nothing, anywhere. */
  readOnly?: boolean
  /** It only leads to other tools, or to skills, that its agent may have: no list of tool names leaves it out. */
  isGuide?: boolean
  /** A shorter name that a call may use too, as long as no other tool has it (decision 5). */
  alias?: string
  /** The MCP server it belongs to, by its agent's name for it. */
  server?: string
}

/** `auto`, `none`, `required`, or the name of one tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { tool: string }

/** One call of a model. */
export interface ModelRequest {
  model: string
  system: string
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  toolChoice?: ToolChoice
  thinking?: boolean
  /** A JSON Schema the whole answer must meet. */
  schema?: JsonObject
  maxOutputTokens?: number
  /** Overrides the provider's `max_retries`. */
  retries?: number
}

/** Why a model stopped. `refused`: the provider's safety system or the model itself declined. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'refused' | 'other'

/**
 * What a model call yields, in this order: `retry` and `notice`, then any of text, thinking and tool calls, then one `finish`.
 *
 * A stream that breaks before `finish` throws a CrabError of kind unavailable, timeout, throttled,
 * credentials, config, invalid, failed or cancelled.
 */
export type ModelEvent =
  | { type: 'retry'; attempt: number; delayMs: number; error: CrabError }
  /** Something a person should know once, such as that this is the demo model. */
  | { type: 'notice'; message: string }
  | { type: 'text'; delta: string }
  | { type: 'thinking'; delta: string }
  /** Closes the thinking block that came before; its `meta` must be sent back with the block. */
  | { type: 'thinking-end'; meta?: JsonObject }
  | { type: 'tool-call'; call: ToolCall }
  | { type: 'finish'; reason: FinishReason; usage: Usage | undefined }

/** What is known of a model (decision 39). Absent means unknown, never zero. Prices are US dollars per million tokens. */
export interface ModelFacts {
  /** Context window, tokens. */
  context?: number
  inputUsd?: number
  outputUsd?: number
  cacheReadUsd?: number
  cacheWriteUsd?: number
}

/** A model that can be called by name. */
export interface ModelEntry {
  name: string
  provider: string
  active: boolean
  facts: ModelFacts
}

/** What the runtime needs of models, and nothing more (RFC 0027). */
export interface Provider {
  /** Streams one model call; aborting the signal ends it with `cancelled`. */
  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Throws `config` when there is no such model, or no way to call it; else begins to load what a call needs. */
  prepare(model: string): void
  /** The model of an agent that names none. Throws `config` when there is none. */
  defaultModel(): string
  facts(model: string): ModelFacts
  /** What that usage costs in US dollars; undefined while a price it needs is unknown (decision 39). */
  costUsd(model: string, usage: Usage): number | undefined
}
