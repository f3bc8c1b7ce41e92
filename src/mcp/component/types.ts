import type { JsonObject } from '../../core/base/message.ts'

/** A standalone program whose tools agents use (ADR 0117). */
export interface Component {
  /**
   * The name of its port file, log and tools: lower-case letters, digits and single hyphens between them, at
   * most 32.
   */
  name: string
  version: string
  /** Its purpose in a sentence or two; models read it before they use its tools. */
  description: string
  tools: readonly ComponentTool[]
}

/** A tool of a component. Its arguments are validated against its schema before it runs. */
export interface ComponentTool<A = JsonObject> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  name: string
  title?: string
  /** Its purpose and when to use it, for a model. */
  description: string
  /** The schema of its arguments: an object, as JSON Schema 2020-12; without it there are none. */
  inputSchema?: JsonObject
  /** The schema of `structuredContent`, for hosts that use it. */
  outputSchema?: JsonObject
  /** Hints for hosts: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`. */
  annotations?: Readonly<Record<string, boolean>>
  /** Runs the tool. A thrown error becomes a failed result that the model reads. */
  run(args: A, call: ComponentCall): ComponentAnswer | Promise<ComponentAnswer>
}

/** A call of a tool. */
export interface ComponentCall {
  /** Aborted when the result is no longer needed, and when the component ends. */
  readonly signal: AbortSignal
  /** Whether the caller asked for progress; other callers time out when nothing arrives for too long. */
  readonly wantsProgress: boolean
  /** Reports progress to the caller; `done` increases. */
  progress(message: string, done: number, total?: number): void
}

/** The result of a tool: a text, or MCP content. */
export type ComponentAnswer = string | ComponentResult

export interface ComponentResult {
  content: readonly ToolContent[]
  structuredContent?: JsonObject
  isError?: boolean
}

/** A piece of a result; data is base64. */
export type ToolContent =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }

/** The answer of `GET /health`. */
export interface Health {
  name: string
  version: string
  pid: number
  /** The time it started serving, ISO 8601. */
  started: string
}
