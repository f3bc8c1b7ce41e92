import type { JsonObject } from '../base/message.ts'
import { isTable } from './schema.ts'

/** Applies a JSON merge patch (RFC 7396): null removes a key, tables merge, anything else replaces. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const result = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    const old = result.get(key)
    if (value === null) result.delete(key)
    else if (isTable(value)) result.set(key, mergePatch(isTable(old) ? old : {}, value))
    else result.set(key, value)
  }
  return Object.fromEntries(result)
}
