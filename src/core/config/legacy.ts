import type { JsonObject } from '../base/message.ts'
import { isTable } from './schema.ts'

/** Keys that clients of the Rust reference write and that mean nothing here; dropped silently (decision 41). */
const MEANINGLESS = ['compact_tool_max_len', 'compact_threshold', 'hooks', 'auto_restart']

/** Whether an agent names servers of a registry: the form of before RFC 0193. */
export function namesServers({ mcps }: JsonObject): boolean {
  return Array.isArray(mcps) && mcps.some((entry) => typeof entry === 'string')
}

/** An agent's table without legacy keys, in it or in its servers. `tool_choice` has a meaning in an agent only. */
export function withoutLegacyKeys(table: JsonObject): JsonObject {
  const rest = omit(table, MEANINGLESS)
  const { mcps } = rest
  return Array.isArray(mcps)
    ? { ...rest, mcps: mcps.map((entry) => (isTable(entry) ? withoutEntryKeys(entry) : entry)) }
    : rest
}

/** A table of config.toml, or an MCP entry, without legacy keys. */
export function withoutEntryKeys(table: JsonObject): JsonObject {
  return omit(table, [...MEANINGLESS, 'tool_choice'])
}

/** A table without the keys whose text is empty: existing files and clients write them for "none". */
export function withoutEmptyTexts(table: JsonObject, keys = Object.keys(table)): JsonObject {
  return omit(
    table,
    keys.filter((key) => table[key] === ''),
  )
}

/**
 * An agent as a client sent it, as a file would say it: existing clients write every key of a server, with null, an empty
 * text, an empty list or an empty table where a file leaves it out. Nulls outside of servers are the merge patch's.
 */
export function withoutEmptyKeys(table: JsonObject): JsonObject {
  const { mcps, tool_choice: choice } = table
  const named = isTable(choice) ? { ...table, tool_choice: chosenTool(choice) ?? choice } : table
  const config = withoutEmptyTexts(named, ['model', 'tool_choice'])
  return Array.isArray(mcps) ? { ...config, mcps: mcps.map(withoutEmptyEntryKeys) } : config
}

/** The tool that `{"type": "function", "function": {"name": "bash"}}` names, the form of the OpenAI API. */
function chosenTool({ type, function: chosen }: JsonObject): string | undefined {
  const name = type === 'function' && isTable(chosen) ? chosen['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

function withoutEmptyEntryKeys(entry: unknown): unknown {
  if (!isTable(entry)) return entry
  const nulls = Object.keys(entry).filter((key) => entry[key] === null)
  const empty = ['args', 'env'].filter((key) => isEmpty(entry[key]))
  return withoutEmptyTexts(omit(entry, [...nulls, ...empty]), ['command', 'url', 'auth'])
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isTable(value) && Object.keys(value).length === 0
}

function omit(table: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !keys.includes(key)))
}
