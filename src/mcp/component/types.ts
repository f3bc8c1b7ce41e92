import type { JsonObject } from '../../core/base/message.ts'

/** A program of its own whose tools agents use (RFC 0043). */
export interface Component {
  /** The name of its port file, log and tools: small letters, digits and single hyphens between them, at most 32. */
  name: string
  version: string
  /** What it is for, a sentence or two; models read it before they use its tools. */
  description: string
  tools: readonly ComponentTool[]
}

/** A tool. Its arguments have been checked against its schema when it runs. */
export interface ComponentTool<A = JsonObject> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  name: string
  title?: string
  /** What it does and when to use it, for a model. */
  description: string
  /** Of its arguments: an object, as JSON Schema 2020-12; without it there are none. */
  inputSchema?: JsonObject
  /** Of `structuredContent`, for hosts that want to know. */
  outputSchema?: JsonObject
  /** What hosts are told of it: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`. */
  annotations?: Readonly<Record<string, boolean>>
  /** What it throws is the answer, as a failure that the model reads. */
  run(args: A, call: ComponentCall): ComponentAnswer | Promise<ComponentAnswer>
}

/** A call of a tool. */
export interface ComponentCall {
  /** Aborted when nobody waits for the answer any more, and when the component ends. */
  readonly signal: AbortSignal
  /** Whether whoever waits asked to be told how far it is; others give up what is silent for too long. */
  readonly wantsProgress: boolean
  /** Tells whoever waits how far it is; `done` counts up. */
  progress(message: string, done: number, total?: number): void
}

/** What a tool answers: a text, or content as MCP has it. */
export type ComponentAnswer = string | ComponentResult

export interface ComponentResult {
  content: readonly ToolContent[]
  structuredContent?: JsonObject
  isError?: boolean
}

/** A piece of an answer; data is base64. */
export type ToolContent =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }

/** What `GET /health` answers. */
export interface Health {
  name: string
  version: string
  pid: number
  /** When it began to serve, ISO 8601. */
  started: string
}
