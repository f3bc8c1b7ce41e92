import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean, nearest } from '../../core/base/nearest.ts'

/**
 * Parses an entry as servers document it: an object with `command` or `url`, or such an object under its name
 * in `mcpServers`, where `name` selects one of several. Throws `usage`.
 */
export function readJsonEntry(text: string, name: string): JsonObject {
  const object = parseObject(text)
  if (!object) throw invalidEntry('it is not a JSON object')
  const entry = unwrap(object['mcpServers'] ?? object['servers'] ?? object, name)
  const { type, transport = TRANSPORTS.get(String(type)), name: _, ...rest } = entry
  if (type !== undefined && type !== 'stdio' && !TRANSPORTS.has(String(type))) {
    throw invalidEntry('its "type" is not stdio, http or sse')
  }
  return { ...rest, ...(transport !== undefined && { transport }) }
}

function unwrap(servers: unknown, name: string): JsonObject {
  if (!isObject(servers)) throw invalidEntry('it has no server')
  if ('command' in servers || 'url' in servers) return servers
  const all = Object.values(servers)
  const one = servers[name] ?? (all.length === 1 ? all[0] : undefined)
  if (isObject(one)) return one
  const names = Object.keys(servers)
  if (all.length > 1 && all.every(isObject)) {
    throw invalidEntry(`none of its servers is named ${name}`, `use one of its names: ${names.join(', ')}`)
  }
  const misspelt = names.find((key) => nearest(key, KEYS) !== undefined)
  throw misspelt === undefined
    ? invalidEntry('it has no server')
    : invalidEntry(`it has no server, and ${misspelt} is not a key of one`, didYouMean(misspelt, KEYS))
}

const KEYS = ['command', 'url', 'mcpServers', 'servers']

function invalidEntry(why: string, hint?: string): CrabError {
  return new CrabError('usage', `Cannot use the JSON in place of a command: ${why}`, {
    hint: hint ?? `for example '{"command": "npx", "args": ["-y", "some-server"]}'`,
  })
}

/** The names that other programs use for the transports of remote servers. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
])
