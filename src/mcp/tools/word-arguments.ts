import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/**
 * Replaces arguments typed as `key=VALUE` by their literal text from `words`, where the schema allows a
 * string and would refuse VALUE as parsed from JSON.
 */
export function keepTexts(
  schema: JsonObject,
  args: JsonObject,
  words: Readonly<Record<string, string>>,
): JsonObject {
  const { properties } = schema
  if (!isObject(properties)) return args
  const texts = Object.entries(words).filter(([name]) => {
    return (
      Object.hasOwn(args, name) && Object.hasOwn(properties, name) && wantsText(properties[name], args[name])
    )
  })
  return { ...args, ...Object.fromEntries(texts) }
}

/**
 * Whether a schema allows a string but not the type of the parsed value; false when the schema does not say
 * so plainly.
 */
function wantsText(schema: unknown, value: unknown): boolean {
  const types = listTypes(schema)
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return types.includes('string') && !types.includes(own) && !(own === 'number' && types.includes('integer'))
}

/** Collects the types that a schema names itself and in its alternatives. */
function listTypes(schema: unknown): unknown[] {
  if (!isObject(schema)) return []
  const { type, anyOf, oneOf, enum: values } = schema
  if (type !== undefined) return [type].flat()
  if (Array.isArray(values)) return values.map((value) => (value === null ? 'null' : typeof value))
  return [anyOf, oneOf].flatMap((some) => (Array.isArray(some) ? some.flatMap(listTypes) : []))
}
