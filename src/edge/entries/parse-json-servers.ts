import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { isTable } from '../../core/config/schema.ts'
import type { ParsedServers } from './parse-toml-servers.ts'
import type { EdgeServer } from './types.ts'

/**
 * Parses a repository's `.mcp.json`, the format of Claude Code: an object `mcpServers` with a server for each
 * name. Names get the form that crabtalk has; keys that it does not know are left out, with a note.
 */
export function parseJsonServers(text: string, file: string): ParsedServers {
  const bare = text.replace(/^\uFEFF/, '')
  let content: unknown
  try {
    content = JSON.parse(bare)
  } catch (reason) {
    return fail(`${file}${findPlace(bare, reason)}`, file, 'it is not valid JSON')
  }
  if (!isObject(content)) return fail(file, file, 'it is not a JSON object')
  const { mcpServers: servers } = content
  if (!isTable(servers)) return fail(file, file, 'it has no object "mcpServers"')
  return {
    servers: Object.entries(servers).map(([name, entry]) => toServer(name, entry, file)),
    problems: [],
  }
}

function fail(place: string, file: string, why: string): ParsedServers {
  const hint = '{"mcpServers": {"NAME": {"command": "…", "args": []}}}'
  return { servers: [], problems: [{ file, message: `${place}: ${why}`, hint }] }
}

/** Returns `:LINE:COLUMN` of a syntax error. The rest of its message may quote a secret. */
function findPlace(text: string, reason: unknown): string {
  const [, line, column] = / \(line (\d+) column (\d+)\)/.exec(String(reason)) ?? []
  if (line !== undefined) return `:${line}:${column}`
  const lines = text.slice(0, findToken(text)).split('\n')
  return `:${lines.length}:${lines.at(-1)!.length + 1}`
}

/**
 * Finds the unexpected token, which the parser does not locate: the shortest beginning of the text that has the
 * same error ends with it. Returns the end of a text that only ends too early.
 */
function findToken(text: string): number {
  let [before, at] = [0, text.trimEnd().length + 1]
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2)
    if (hasUnexpectedToken(text.slice(0, middle))) at = middle
    else before = middle
  }
  return at - 1
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (reason) {
    return String(reason).includes('Unexpected token')
  }
}

function toServer(name: string, entry: unknown, file: string): EdgeServer {
  const source: JsonObject = isTable(entry) ? entry : {}
  const table = Object.fromEntries(
    Object.entries(source).flatMap(([key, value]): [string, unknown][] => {
      const taken = value === null ? undefined : KEYS.get(key)?.(value)
      return taken === undefined ? [] : [taken]
    }),
  )
  const dropped = Object.keys(source).filter((key) => !KEYS.has(key))
  return {
    name: toServerName(name),
    table,
    oauth: 'auto',
    oauthConfig: undefined,
    file,
    scope: 'project',
    problem: isTable(entry) ? findProblem(source) : 'it must be an object',
    notes:
      dropped.length === 0 ? [] : [`crabtalk does not use ${dropped.map((key) => `"${key}"`).join(', ')}`],
  }
}

/** Converts a name to the form that tools and rules use: `GitHub Issues` becomes `github-issues`. */
function toServerName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/__+/g, '_')
    .slice(0, 32)
  return plain.replaceAll(/^[-_]+|[-_]+$/g, '')
}

function findProblem({ type, transport = type }: JsonObject): string {
  const isKnown = transport === undefined || transport === 'stdio' || TRANSPORTS.has(String(transport))
  return isKnown ? '' : '"type" must be stdio, http or sse'
}

type Conversion = (value: unknown) => [string, unknown] | undefined

const same = (key: string): [string, Conversion] => [key, (value) => [key, value]]

/** Numbers and booleans are written for the text that a program gets. */
function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function mapValues(table: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]))
}

const toTransport: Conversion = (value) => {
  const transport = TRANSPORTS.get(String(value))
  return transport === undefined ? undefined : ['transport', transport]
}

/** The names of the transports of remote servers. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
])

/** The keys of such entries that have a meaning here. */
const KEYS: ReadonlyMap<string, Conversion> = new Map<string, Conversion>([
  ...['command', 'cwd', 'url', 'headers', 'disabled'].map(same),
  ['args', (value) => ['args', Array.isArray(value) ? value.map(toText) : value]],
  ['env', (value) => ['env', isTable(value) ? mapValues(value, toText) : value]],
  ['type', toTransport],
  ['transport', toTransport],
  ['timeout', (value) => ['timeout_ms', value]],
])
