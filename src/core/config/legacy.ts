import type { JsonObject } from '../base/message.ts'
import { quoteWord } from '../base/quote-word.ts'
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

/** The restrictions in a `hooks` table of the Rust implementation. */
interface ReadHooks {
  /** Deny rules with the same effect. */
  rules: readonly string[]
  /** Keys that are unknown or cannot become rules; undefined when there are none. */
  rest: JsonObject | undefined
}

/**
 * Converts the restrictions in `hooks` to rules of `permissions.deny`. What cannot be converted stays in
 * `hooks`, so that no restriction is lost.
 */
function withHooksAsRules(table: JsonObject): JsonObject {
  if (!Object.hasOwn(table, 'hooks')) return table
  const { hooks, ...others } = table
  const { rules, rest } = readHooks(hooks)
  const { permissions = {} } = others
  const remaining = rest === undefined ? others : { ...others, hooks: rest }
  if (rules.length === 0 || !isTable(permissions)) return rules.length === 0 ? remaining : table
  const { deny = [] } = permissions
  if (!Array.isArray(deny)) return table
  return { ...remaining, permissions: { ...permissions, deny: [...new Set([...deny, ...rules])] } }
}

/**
 * Reads a `hooks` table. `bash.disabled` and `bash.deny` become rules; `memory`, which sets how much is
 * recalled, is ignored.
 */
function readHooks(hooks: unknown): ReadHooks {
  if (hooks === undefined || hooks === null) return { rules: [], rest: undefined }
  if (!isTable(hooks)) return { rules: [], rest: { value: hooks } }
  const { bash = {}, memory: _, ...others } = hooks
  const { disabled, deny = [], ...more } = isTable(bash) ? bash : { value: bash }
  const texts = Array.isArray(deny) ? deny : [deny]
  const wrong = texts.filter((text) => denyRule(text) === undefined)
  const unknown = {
    ...others,
    ...more,
    ...(disabled !== undefined && typeof disabled !== 'boolean' && { disabled }),
    ...(wrong.length > 0 && { deny: wrong }),
  }
  const rules = [...(disabled === true ? ['bash'] : []), ...texts.flatMap((text) => denyRule(text) ?? [])]
  return { rules, rest: Object.keys(unknown).length > 0 ? unknown : undefined }
}

/**
 * Returns the rule for "reject commands containing this text"; undefined for text with characters that are
 * special to a shell.
 */
function denyRule(text: unknown): string | undefined {
  if (typeof text !== 'string' || /[;&|<>`$()#!\p{Cc}]/u.test(text)) return undefined
  const words = text.trim().split(/\s+/)
  return text.trim() === '' ? 'bash' : `bash(*${words.map(quoteWord).join(' ')}*)`
}
