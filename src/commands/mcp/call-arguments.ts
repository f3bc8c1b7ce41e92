import type { Host } from '../../cli/host.ts'
import { readStream, toText, unreadable } from '../../cli/named-file.ts'
import { CrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** The arguments of a call, and the original text of those that were typed as `key=value` words. */
export interface Arguments {
  args: JsonObject
  words: Record<string, string>
}

/**
 * Parses the arguments of a tool: none, one JSON object, `-` for an object on standard input, or `key=value`
 * words whose values are JSON, or text where they are not. Throws `usage` for a repeated key.
 */
export async function parseCallArguments(words: readonly string[], host: Host): Promise<Arguments> {
  const [first = ''] = words
  if (words.length === 1 && first === '-') {
    return { args: toObject(await readObjectText(host), 'standard input', 'invalid'), words: {} }
  }
  if (words.length === 1 && first.startsWith('{'))
    return { args: toObject(first, 'the arguments', 'usage'), words: {} }
  const pairs = words.map(readPair)
  refuseTwice(pairs.map(([key]) => key))
  const args = pairs.map(([key, text]): [string, unknown] => [key, readValue(text)])
  return { args: Object.fromEntries(args), words: Object.fromEntries(pairs) }
}

/** Parses a `key=value` word. The error does not repeat any other word, because it may be a secret. */
function readPair(word: string, index: number): [string, string] {
  const at = word.indexOf('=')
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)]
  const which = `word ${index + 1} after the tool`
  throw new CrabError('usage', `Cannot use ${which} as an argument: it is not key=value`, { hint: EXAMPLE })
}

function refuseTwice(keys: readonly string[]): void {
  const twice = keys.find((key, i) => keys.indexOf(key) < i)
  if (twice === undefined) return
  throw new CrabError('usage', `Cannot use the arguments: ${twice} is given twice`, {
    hint: `pass several values as a list: ${twice}='["a", "b"]'`,
  })
}

/** Reads a value as JSON; a number that this would alter, such as a long id, stays text. */
function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text // not JSON
  }
}

function toObject(text: string, what: string, kind: 'invalid' | 'usage'): JsonObject {
  const object = parseObject(text)
  if (object) return object
  throw new CrabError(kind, `Cannot use ${what}: it is not a JSON object`, { hint: EXAMPLE })
}

/** Reads a JSON object from standard input as text. Throws `no-input`. */
export async function readObjectText(host: Host, what = 'the arguments'): Promise<string> {
  try {
    return toText(await readStream(host.stdin(), 'standard input'), 'standard input')
  } catch (cause) {
    throw unreadable(`${what} from standard input`, cause, 'pipe a JSON object into it')
  }
}

const EXAMPLE = `for example path=notes.md, or '{"path":"notes.md"}'`
