import type { JsonObject } from '../base/message.ts'
import { quoteWord } from '../base/quote-word.ts'
import { isTable } from './schema.ts'

/** The restrictions of a `hooks` table of the Rust reference. */
interface ReadHooks {
  /** Rules that deny it. */
  rules: readonly string[]
  /** The keys that are unknown or cannot be rules; undefined when there are none. */
  rest: JsonObject | undefined
}

/**
 * Gives a table whose `hooks` are rules of `permissions.deny`. What cannot be one stays in `hooks`, so that nothing that
 * restricts is lost.
 */
export function withHooksAsRules(table: JsonObject): JsonObject {
  if (!Object.hasOwn(table, 'hooks')) return table
  const { hooks, ...others } = table
  const { rules, rest } = readHooks(hooks)
  const { permissions = {} } = others
  const kept = rest === undefined ? others : { ...others, hooks: rest }
  if (rules.length === 0 || !isTable(permissions)) return rules.length === 0 ? kept : table
  const { deny = [] } = permissions
  if (!Array.isArray(deny)) return table
  return { ...kept, permissions: { ...permissions, deny: [...new Set([...deny, ...rules])] } }
}

/** Reads `hooks`: `bash.disabled` and `bash.deny` restrict, `memory` says how much is recalled. */
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

/** The rule for "reject commands containing this text"; undefined for what stands between words a shell reads. */
function denyRule(text: unknown): string | undefined {
  if (typeof text !== 'string' || /[;&|<>`$()#!\p{Cc}]/u.test(text)) return undefined
  const words = text.trim().split(/\s+/)
  return text.trim() === '' ? 'bash' : `bash(*${words.map(quoteWord).join(' ')}*)`
}
