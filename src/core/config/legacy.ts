import type { JsonObject } from '../base/message.ts'
import { readHooks, withHooksAsRules } from './legacy-hooks.ts'
import { isTable } from './schema.ts'

/** Keys that clients of the Rust reference write and that mean nothing here; dropped silently (docs/decisions/0025). */
const MEANINGLESS = ['compact_tool_max_len', 'compact_threshold', 'auto_restart']

/** Whether an agent names servers of a registry: the form of before RFC 0193. */
export function namesServers({ mcps }: JsonObject): boolean {
  return Array.isArray(mcps) && mcps.some((entry) => typeof entry === 'string')
}

/**
 * An agent's table without legacy keys, in it or in its servers. `tool_choice` has a meaning in an agent only. What `hooks`
 * restricts becomes rules; a `hooks` that says more stays, for the check to refuse.
 */
export function withoutLegacyKeys(table: JsonObject): JsonObject {
  const rest = omit(withHooksAsRules(table), MEANINGLESS)
  const { mcps } = rest
  return Array.isArray(mcps)
    ? { ...rest, mcps: mcps.map((entry) => (isTable(entry) ? withoutEntryKeys(entry) : entry)) }
    : rest
}

/** The table of config.toml without legacy keys; `hooks` as in withoutLegacyKeys(). */
export function withoutConfigKeys(table: JsonObject): JsonObject {
  return omit(withHooksAsRules(table), [...MEANINGLESS, 'tool_choice'])
}

/** An MCP entry without legacy keys. A `hooks` that restricts something stays, for the check to refuse. */
function withoutEntryKeys(table: JsonObject): JsonObject {
  const { rules, rest } = readHooks(table['hooks'])
  const isEmpty = rules.length === 0 && rest === undefined
  return omit(table, [...MEANINGLESS, 'tool_choice', ...(isEmpty ? ['hooks'] : [])])
}

/** The hint of the error that refuses a `hooks` table. */
export const HOOKS_HINT =
  'write what it restricts as rules: deny = ["bash"] or deny = ["bash(rm *)"] in [permissions]'

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
