import type { JsonObject } from '../../../src/core/base/message.ts'

/** One call of a tool. */
export interface Call {
  args: JsonObject
  /** All of the request's parameters. */
  params: JsonObject
  /** Aborted when the client cancels. */
  signal: AbortSignal
  /** Reports progress, if the client asked for it. */
  progress(done: number, total: number): Promise<void>
}

export interface Tool {
  name: string
  /** The tool's entry in tools/list; any JSON value. */
  definition: unknown
  /** Returns the result of the call. */
  run(call: Call): JsonObject | Promise<JsonObject>
  /** Whether the result bypasses the SDK, which would refuse it; such a call cannot be cancelled. */
  isRaw?: boolean
}

/** Properties of a tool's arguments, by name, each with its JSON type. */
export type Fields = Readonly<Record<string, string>>

/** Builds a tool with a valid definition; fields whose type ends in `?` are optional. */
export function tool(
  name: string,
  description: string,
  fields: Fields,
  run: Tool['run'],
  more: JsonObject = {},
): Tool {
  const properties = Object.entries(fields).map(([key, type]) => [key, { type: type.replace('?', '') }])
  const required = Object.keys(fields).filter((key) => !fields[key]!.endsWith('?'))
  const inputSchema = { type: 'object', properties: Object.fromEntries(properties), required }
  return { name, definition: { name, description, inputSchema, ...more }, run }
}

/** Builds a result of one text. */
export function textResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] }
}

/** Marks a tool that changes nothing. */
export const READ_ONLY: JsonObject = { annotations: { readOnlyHint: true } }
