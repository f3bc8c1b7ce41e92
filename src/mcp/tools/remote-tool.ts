import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { limitDescription } from './description.ts'
import { readToolSchema } from './tool-schema.ts'

/** A tool as its server describes it, fit to be shown to a model. */
export interface RemoteTool {
  name: string
  /** The server's words: no instructions, without control characters, at most 1 KiB. */
  description: string
  inputSchema: JsonObject
}

/** A tool that nobody can be offered. */
export interface DroppedTool {
  /** Its name as far as it has one, made printable. */
  name: string
  /** A clause: `its schema is no object`. */
  why: string
  /** Nothing is wrong with it: this build has no way to call it. */
  isSound?: true
}

/** What a server offers, in its order. */
export interface ToolList {
  readonly tools: readonly RemoteTool[]
  readonly dropped: readonly DroppedTool[]
}

/** Reads tool definitions one by one: one that is wrong is dropped, the others stay; the same one again is nothing. */
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
 * A list that takes the place of another. What is the same stays the same object, so that a server whose JSON comes in a
 * new order each time changes nothing; the very list that was there when nothing changed.
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

/** A server's words of one line, safe to print and of a length to print. */
export function toPrintableLine(text: string): string {
  const line = sanitize(takeStart(text, 4 * MAX_LINE))
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > MAX_LINE ? `${takeStart(line, MAX_LINE)}…` : line
}

const MAX_LINE = 300
const MAX_NAME = 256

function readTool(definition: unknown): RemoteTool | DroppedTool {
  if (!isObject(definition)) return { name: '', why: 'it is no object' }
  const { name, description } = definition
  if (typeof name !== 'string') return { name: '', why: 'it has no name' }
  if (name.length > MAX_NAME)
    return { name: toPrintableLine(name), why: `its name has over ${MAX_NAME} characters` }
  if (CONTROL.test(name)) return { name: toPrintableLine(name), why: 'its name has a control character' }
  if (runsAsTaskOnly(definition)) {
    return { name: toPrintableLine(name), why: 'it runs as a task only', isSound: true }
  }
  const reading = readToolSchema(definition['inputSchema'])
  if ('problem' in reading) return { name: toPrintableLine(name), why: reading.problem }
  const words = typeof description === 'string' ? limitDescription(description) : ''
  return { name, description: words, inputSchema: reading.schema }
}

/** Tasks (MCP 2025-11-25, an experiment that the next revision took back) are not offered here. */
function runsAsTaskOnly({ execution }: JsonObject): boolean {
  return isObject(execution) && execution['taskSupport'] === 'required'
}

const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u
