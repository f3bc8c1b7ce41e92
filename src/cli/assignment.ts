import { parse } from 'smol-toml'
import { CrabError } from '../core/base/errors.ts'
import type { JsonObject } from '../core/base/message.ts'
import { isTable } from '../core/config/schema.ts'

/**
 * The option that holds an assignment, and a valid example: errors show these instead of the text, which may
 * be a secret.
 */
interface AssignmentOrigin {
  what: string
  example: string
}

/**
 * Parses `key=value` into a JSON merge patch. The value is TOML, or a list or table in JSON; anything else is
 * text, and an empty value removes the key.
 *
 * A dotted key addresses nested tables. Throws `usage`.
 */
export function parseAssignment(text: string, { what, example }: AssignmentOrigin): JsonObject {
  const at = text.indexOf('=')
  const key = text.slice(0, at).trim()
  const value = text.slice(at + 1).trim()
  const table = at < 1 ? undefined : orUndefined(() => parse(`${key} = 0`))
  if (!table)
    throw new CrabError('usage', `Cannot use ${what}: it is not key=value`, {
      hint: `for example ${example}`,
    })
  return withLeaf(table, value === '' ? null : readTomlValue(value))
}

/**
 * Reads a TOML value, or a list or table in JSON as `--json` prints it. Anything else is text, such as
 * `claude-x`, or several lines that would set other keys as well.
 */
export function readTomlValue(text: string): unknown {
  const { value, ...others } = orUndefined(() => parse(`value = ${text}`)) ?? {}
  if (value !== undefined && Object.keys(others).length === 0) return value
  const inJson: unknown = /^[[{]/.test(text) ? orUndefined(() => JSON.parse(text)) : undefined
  return inJson ?? text
}

/** Returns the table of a dotted key with another value at its end. */
function withLeaf(table: JsonObject, leaf: unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(table).map(([key, inner]) => [key, isTable(inner) ? withLeaf(inner, leaf) : leaf]),
  )
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined // the caller tries another interpretation, or reports the problem
  }
}
