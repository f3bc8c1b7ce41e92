import { parse } from 'smol-toml'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { isTable } from '../../core/config/schema.ts'

/**
 * Parses a dotted key of config.toml, such as `tui.theme`. A table in a list is named by its name:
 * `providers.gateway.base_url`. Throws `usage`.
 */
export function parseConfigKey(text: string): string[] {
  const path = toPath(text)
  if (path.length > 0) return path
  throw new CrabError('usage', `Cannot read the key "${text}": it is not a dotted key of TOML`, {
    hint: 'for example tui.theme',
  })
}

/** Returns the value of a key; undefined when it is not set. */
export function getConfigValue(table: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value.find((one) => isNamed(one, key))
    return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, table)
}

/**
 * Returns the table with a key set, or removed when the value is undefined; tables that become empty are
 * removed too. Throws `missing` when a list has no table of that name.
 */
export function withConfigValue(table: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [key = '', ...rest] = path
  const { [key]: before, ...others } = table
  const after = rest.length === 0 ? value : withInner(before, rest, value)
  if (after === undefined || (isTable(after) && Object.keys(after).length === 0 && rest.length > 0))
    return others
  return { ...table, [key]: after }
}

function withInner(before: unknown, path: readonly string[], value: unknown): unknown {
  if (!Array.isArray(before)) return withConfigValue(isTable(before) ? before : {}, path, value)
  const [name = '', ...rest] = path
  const at = before.findIndex((one) => isNamed(one, name))
  if (at < 0)
    throw new CrabError('missing', `Cannot set the key: config.toml has no table named "${name}"`, {
      hint: 'crabtalk config edit adds one',
    })
  if (rest.length === 0) return value === undefined ? before.toSpliced(at, 1) : before.with(at, value)
  return before.with(at, withConfigValue(before[at], rest, value))
}

function isNamed(value: unknown, name: string): boolean {
  return isTable(value) && value['name'] === name
}

function toPath(text: string): string[] {
  try {
    const path: string[] = []
    for (let table: unknown = parse(`${text} = 0`); isTable(table); ) {
      const [key, ...others] = Object.keys(table)
      if (key === undefined || others.length > 0) return []
      path.push(key)
      table = table[key]
    }
    return path
  } catch {
    return [] // the caller reports that the key cannot be read
  }
}
