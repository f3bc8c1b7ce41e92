import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/**
 * Arguments that were typed as `key=VALUE`: where the tool's schema wants a text and what VALUE is as JSON would be
 * refused, the text that was typed, of `words`, stands in for it.
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

/** A text is allowed, and what it reads as is not; of what a schema does not say plainly, nothing is known. */
function wantsText(schema: unknown, value: unknown): boolean {
  const types = listTypes(schema)
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return types.includes('string') && !types.includes(own) && !(own === 'number' && types.includes('integer'))
}

/** The types that a schema names itself, and in its alternatives. */
function listTypes(schema: unknown): unknown[] {
  if (!isObject(schema)) return []
  const { type, anyOf, oneOf, enum: values } = schema
  if (type !== undefined) return [type].flat()
  if (Array.isArray(values)) return values.map((value) => (value === null ? 'null' : typeof value))
  return [anyOf, oneOf].flatMap((some) => (Array.isArray(some) ? some.flatMap(listTypes) : []))
}
