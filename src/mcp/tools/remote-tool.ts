import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { cleanServerText, toPrintableLine } from './server-text.ts'
import { readToolSchema } from './tool-schema.ts'

/** A tool as its server describes it, made fit to be shown to a model. */
export interface RemoteTool {
  name: string
  /** The server's description: untrusted, without control characters, otherwise whole (ADR 0215). */
  description: string
  inputSchema: JsonObject
}

/** A tool that cannot be offered. */
export interface DroppedTool {
  /** Its name if it has one, made printable; else empty. */
  name: string
  /** A clause: `its name is taken`. */
  why: string
  /** Set when the tool is valid, but this build cannot call it. */
  isSound?: true
}

/** The tools of a server, in its order. */
export interface ToolList {
  readonly tools: readonly RemoteTool[]
  readonly dropped: readonly DroppedTool[]
}

/**
 * Reads tool definitions one by one: an invalid one is dropped without affecting the others; an exact
 * duplicate is ignored.
 */
export function readTools(definitions: readonly unknown[]): ToolList {
  const tools = new Map<string, RemoteTool>()
  const dropped: DroppedTool[] = []
  for (const definition of definitions) {
    const reading = readTool(definition)
    if ('why' in reading) dropped.push(reading)
    const first = 'why' in reading ? undefined : tools.get(reading.name)
    if ('why' in reading || isDeepStrictEqual(first, reading)) continue
    if (first) dropped.push({ name: toPrintableLine(reading.name), why: 'its name is taken' })
    else tools.set(reading.name, reading)
  }
  return { tools: [...tools.values()], dropped }
}

/**
 * Merges a new list into the previous one. Unchanged parts keep their objects, so that a server whose JSON
 * changes only in key order changes nothing; an unchanged list is returned as the same object.
 */
export function replaceList(before: ToolList | undefined, list: ToolList): ToolList {
  if (isDeepStrictEqual(before, list)) return before!
  const known = new Map(before?.tools.map((tool) => [tool.name, tool]))
  const tools = list.tools.map((tool) => {
    const old = known.get(tool.name)
    return old && isDeepStrictEqual(old, tool) ? old : tool
  })
  const isSame = isDeepStrictEqual(before?.dropped, list.dropped)
  return { tools, dropped: isSame ? before!.dropped : list.dropped }
}

const MAX_NAME = 256

function readTool(definition: unknown): RemoteTool | DroppedTool {
  if (!isObject(definition)) return { name: '', why: 'it is not an object' }
  const { name, description } = definition
  if (typeof name !== 'string') return { name: '', why: 'it has no name' }
  if (name.length > MAX_NAME)
    return { name: toPrintableLine(name), why: `its name has over ${MAX_NAME} characters` }
  if (CONTROL.test(name)) return { name: toPrintableLine(name), why: 'its name has a control character' }
  if (runsAsTaskOnly(definition)) {
    return { name: toPrintableLine(name), why: 'it runs only as a task', isSound: true }
  }
  const reading = readToolSchema(definition['inputSchema'])
  if ('problem' in reading) return { name: toPrintableLine(name), why: reading.problem }
  const words = typeof description === 'string' ? cleanServerText(description) : ''
  return { name, description: words, inputSchema: reading.schema }
}

/**
 * Whether a tool only runs as a task. Tasks (MCP 2025-11-25, an experiment that the next revision withdrew)
 * are not supported.
 */
function runsAsTaskOnly({ execution }: JsonObject): boolean {
  return isObject(execution) && execution['taskSupport'] === 'required'
}

const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u
