import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/**
 * Parses the JSON object that a client sent as text. Throws `invalid` with a message that begins with `what`.
 */
export function readObject(what: string, text: string): JsonObject {
  const value = parse(what, text)
  if (isObject(value)) return value
  throw new CrabError('invalid', `${what}: it is not a JSON object`)
}

function parse(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CrabError('invalid', `${what}: ${(cause as Error).message}`, { cause })
  }
}
