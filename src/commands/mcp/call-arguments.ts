import { CrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { Host } from '../host.ts'
import { collect, toText, unreadable } from '../named-file.ts'

/**
 * The arguments of a tool: none, one JSON object, `-` for one on standard input, or `key=value` words whose values are
 * JSON, or text where they are none.
 */
export async function readArguments(words: readonly string[], host: Host): Promise<JsonObject> {
  const [first = ''] = words
  if (words.length === 1 && first === '-') return toObject(await readInput(host), 'standard input')
  if (words.length === 1 && first.startsWith('{')) return toObject(first, 'the arguments')
  return Object.fromEntries(words.map(readPair))
}

/** A word that is no pair may be a secret: it is not repeated. */
function readPair(word: string, index: number): [string, unknown] {
  const at = word.indexOf('=')
  if (at > 0) return [word.slice(0, at), readValue(word.slice(at + 1))]
  const which = `word ${index + 1} behind the tool`
  throw new CrabError('usage', `Cannot use ${which} as an argument: it is no key=value`, { hint: EXAMPLE })
}

/** A number that would become another one, such as a long id, stays text. */
function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text // what is no JSON is text
  }
}

function toObject(text: string, what: string): JsonObject {
  const object = parseObject(text)
  if (object) return object
  throw new CrabError('invalid', `Cannot use ${what}: it is no JSON object`, { hint: EXAMPLE })
}

async function readInput(host: Host): Promise<string> {
  try {
    return toText(await collect(host.stdin(), 'standard input'), 'standard input')
  } catch (cause) {
    throw unreadable('the arguments from standard input', cause, 'pipe a JSON object into it')
  }
}

const EXAMPLE = `for example path=notes.md, or '{"path":"notes.md"}'`
