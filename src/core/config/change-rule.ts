import { CrabError } from '../base/errors.ts'
import type { JsonObject } from '../base/message.ts'
import type { PermissionRule } from './permissions.ts'
import { READ_ONLY_COMMANDS_RULE, readRule } from './rule-syntax.ts'
import { isTable } from './schema.ts'

/** A rule to be added to a `[permissions]` table, or removed from it. */
export type RuleChange = Pick<PermissionRule, 'effect' | 'pattern' | 'for'> & { remove: boolean }

/**
 * Returns a table, such as that of config.toml, with a rule of its `permissions` added or removed. Adding a rule
 * that is there changes nothing. Throws `invalid` for an invalid rule, `missing` when there is none to remove.
 */
export function withRuleChange(table: JsonObject, change: RuleChange): JsonObject {
  return withTable(table, 'permissions', (permissions) => {
    if (change.pattern === READ_ONLY_COMMANDS_RULE) return switchReadOnly(permissions, change)
    if (change.for === undefined) return changeList(permissions, change)
    return withTable(permissions, change.for, (own) => changeList(own, change))
  })
}

/** Changes the table at a key, which is removed when it is empty afterwards. */
function withTable(owner: JsonObject, key: string, change: (table: JsonObject) => JsonObject): JsonObject {
  const { [key]: before, ...others } = owner
  const after = change(isTable(before) ? before : {})
  return Object.keys(after).length === 0 ? others : { ...owner, [key]: after }
}

/** Returns the JSON merge patch (RFC 7396) that turns one table into another. */
export function toMergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const entries = Object.entries(after).map(([key, value]) => {
    const old = before[key]
    return [key, isTable(value) && isTable(old) ? toMergePatch(old, value) : value] as const
  })
  return Object.fromEntries([...gone.map((key) => [key, null] as const), ...entries])
}

function changeList(lists: JsonObject, { effect, pattern, remove }: RuleChange): JsonObject {
  const list = Array.isArray(lists[effect]) ? lists[effect] : []
  const isSame = (one: unknown) =>
    typeof one === 'string' && one.normalize('NFC') === pattern.normalize('NFC')
  if (!remove) {
    requireRule({ pattern })
    return list.some(isSame) ? lists : { ...lists, [effect]: [...list, pattern] }
  }
  if (!list.some(isSame)) throw missingRule(effect, pattern)
  const { [effect]: _, ...others } = lists
  const rest = list.filter((one) => !isSame(one))
  return rest.length > 0 ? { ...lists, [effect]: rest } : others
}

/** Switches the built-in list of read-only commands off (`ask` added), or on again. */
function switchReadOnly(permissions: JsonObject, { remove }: RuleChange): JsonObject {
  const { [READ_ONLY_COMMANDS_RULE]: isOn, ...others } = permissions
  if (!remove) return { ...permissions, [READ_ONLY_COMMANDS_RULE]: false }
  if (isOn !== false) throw missingRule('ask', READ_ONLY_COMMANDS_RULE)
  return others
}

/** The `missing` error for a rule that is to be removed. */
function missingRule(effect: string, pattern: string): CrabError {
  return new CrabError('missing', `Cannot remove the rule: "${effect} ${pattern}" is not there`, {
    hint: 'crabtalk policy list shows the rules',
  })
}

/** Returns a change unchanged; throws `invalid` when its rule is invalid. */
export function requireRule<T extends Pick<RuleChange, 'pattern'>>(change: T): T {
  const reading = readRule(change.pattern)
  if (reading.ok) return change
  const { predicate, example } = reading.problem
  throw new CrabError('invalid', `Cannot add the rule "${change.pattern}": it ${predicate}`, {
    hint: `for example ${example}`,
  })
}
