import type { Effort } from '../base/effort.ts'
import type { CrabError } from '../base/errors.ts'
import type { JsonObject, Message, ToolCall, Usage } from '../base/message.ts'

/** A tool as the model sees it. `parameters` is a JSON Schema object. */
export interface ToolSpec {
  name: string
  description: string
  parameters: JsonObject
  /** Whether the tool has no side effects. */
  readOnly?: boolean
  /**
   * Whether the tool only leads to other tools, or to skills, that its agent may use; a list of tool names
   * never excludes it.
   */
  isGuide?: boolean
  /** A shorter name that a call may use if no other tool has it. */
  alias?: string
  /** The MCP server it belongs to, by the name in the agent's configuration. */
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
  /** The reasoning effort; absent: the provider's default. */
  effort?: Effort
  /** A JSON Schema that the whole answer must match. */
  schema?: JsonObject
  maxOutputTokens?: number
  /** Overrides the provider's `max_retries`. */
  retries?: number
  /** `quick` when absent. */
  retryPolicy?: RetryPolicy
}

/**
 * The patience of a call: `quick` retries for seconds, `patient` for minutes; a patient call also repeats an answer
 * that broke off (ADR 0202).
 */
export type RetryPolicy = 'quick' | 'patient'

/** The reason why a model stopped. `refused`: the provider's safety system or the model itself declined. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'refused' | 'other'

/**
 * An event of a model call. The order is: `retry` and `notice`, then any of text, thinking and tool calls,
 * then one `finish`. After a `retry` that discards, the order begins again, and what came before it is void.
 *
 * A stream that breaks before `finish` throws a CrabError of kind unavailable, timeout, throttled,
 * credentials, config, invalid, failed or cancelled.
 */
export type ModelEvent =
  | FailedAttempt
  /** A message for the user, shown once, such as that this is the demo model. */
  | { type: 'notice'; message: string }
  | { type: 'text'; delta: string }
  | { type: 'thinking'; delta: string }
  /** Closes the preceding thinking block; its `meta` must be sent back with the block. */
  | { type: 'thinking-end'; meta?: JsonObject }
  | { type: 'tool-call'; call: ToolCall }
  | { type: 'finish'; reason: FinishReason; usage: Usage | undefined }

/** A failed attempt of a model call; the next one follows after `delayMs`. */
export interface FailedAttempt {
  type: 'retry'
  /** The number of the attempt that failed, from 1. */
  attempt: number
  maxAttempts: number
  delayMs: number
  /** The time of the next attempt, in milliseconds since 1970. */
  at: number
  error: CrabError
  /** Set when the answer broke off: its events so far are void. */
  discards?: true
}

/**
 * The known facts about a model (ADR 0044). Absent means unknown, never zero. Prices are US dollars per
 * million tokens.
 */
export interface ModelFacts {
  /** The context window, in tokens. */
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
  /** The title of its server, such as `Ollama`, if that was found on this machine and not configured. */
  foundProgram?: string
}

/** The minimal interface to models that the runtime needs. */
export interface Provider {
  /** Streams one model call; aborting the signal ends it with `cancelled`. */
  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /**
   * Throws `config` when the model does not exist or cannot be called; otherwise starts loading what a call
   * needs.
   */
  prepare(model: string): void
  /** Returns the model for agents that do not name one. Throws `config` when there is none. */
  defaultModel(): string
  facts(model: string): ModelFacts
  /** Returns the cost of a usage in US dollars; undefined while a required price is unknown. */
  costUsd(model: string, usage: Usage): number | undefined
}
