import type { JsonObject } from '../base/message.ts'
import { readHooks, withHooksAsRules } from './legacy-hooks.ts'
import { isTable } from './schema.ts'

/**
 * Keys that clients of the Rust implementation write and that have no meaning here; dropped silently (ADR
 * 0025).
 */
const MEANINGLESS = ['compact_tool_max_len', 'compact_threshold', 'auto_restart']

/** Whether an agent names servers of a registry, which is the old form (ADR 0118). */
export function namesServers({ mcps }: JsonObject): boolean {
  return Array.isArray(mcps) && mcps.some((entry) => typeof entry === 'string')
}

/**
 * Removes legacy keys from an agent's table and its servers. `tool_choice` has a meaning in agents only.
 * Restrictions in `hooks` become rules; other content of `hooks` stays, and validation refuses it.
 */
export function withoutLegacyKeys(table: JsonObject): JsonObject {
  const rest = omit(withHooksAsRules(table), MEANINGLESS)
  const { mcps } = rest
  return Array.isArray(mcps)
    ? { ...rest, mcps: mcps.map((entry) => (isTable(entry) ? withoutEntryKeys(entry) : entry)) }
    : rest
}

/** Removes legacy keys from the table of config.toml. `hooks` is handled as in withoutLegacyKeys(). */
export function withoutConfigKeys(table: JsonObject): JsonObject {
  return omit(withHooksAsRules(table), [...MEANINGLESS, 'tool_choice'])
}

/** Removes legacy keys from an MCP entry. A `hooks` with restrictions stays, and validation refuses it. */
function withoutEntryKeys(table: JsonObject): JsonObject {
  const { rules, rest } = readHooks(table['hooks'])
  const isEmpty = rules.length === 0 && rest === undefined
  return omit(table, [...MEANINGLESS, 'tool_choice', ...(isEmpty ? ['hooks'] : [])])
}

/** The hint of the error that refuses a `hooks` table. */
export const HOOKS_HINT =
  'write what it restricts as rules: deny = ["bash"] or deny = ["bash(rm *)"] in [permissions]'

/** Removes the keys whose text is empty: existing files and clients write them to mean "none". */
export function withoutEmptyTexts(table: JsonObject, keys = Object.keys(table)): JsonObject {
  return omit(
    table,
    keys.filter((key) => table[key] === ''),
  )
}

/**
 * Converts an agent sent by a client to the form of a file. Existing clients write every key of a server,
 * with null, an empty text, list or table where a file omits it. Nulls outside of servers stay: they belong
 * to the merge patch.
 */
export function withoutEmptyKeys(table: JsonObject): JsonObject {
  const { mcps, tool_choice: choice } = table
  const named = isTable(choice) ? { ...table, tool_choice: chosenTool(choice) ?? choice } : table
  const config = withoutEmptyTexts(named, ['model', 'tool_choice'])
  return Array.isArray(mcps) ? { ...config, mcps: mcps.map(withoutEmptyEntryKeys) } : config
}

/**
 * Returns the tool that `{"type": "function", "function": {"name": "bash"}}` names, which is the form of the
 * OpenAI API.
 */
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
