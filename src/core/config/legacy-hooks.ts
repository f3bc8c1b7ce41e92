import type { JsonObject } from '../base/message.ts'
import { quoteWord } from '../base/quote-word.ts'
import { isTable } from './schema.ts'

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
export function withHooksAsRules(table: JsonObject): JsonObject {
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
export function readHooks(hooks: unknown): ReadHooks {
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
