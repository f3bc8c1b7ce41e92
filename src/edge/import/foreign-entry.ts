import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { parseToml } from '../../core/config/toml.ts'
import { type ForeignTable, holdsCommand, toEntryTable } from './foreign-keys.ts'
import { looksLikeJson, parseJsonc } from './jsonc.ts'
import { type InputDescription, readInputs } from './placeholders.ts'

/** A server that another program's configuration, or a README, declares. */
export interface ForeignServer extends ForeignTable {
  /** A valid name that no other server of the text has. */
  name: string
  /** The folder the server belongs to, in a file with servers of several projects. */
  project?: string
}

/** The servers of a text, and what of it could not be taken. */
export interface ForeignEntries {
  servers: ForeignServer[]
  /** Sentences without a full stop about the text, or about servers that were left out. */
  notices: string[]
}

/** Facts that the text does not contain. */
export interface ForeignHint {
  /** The name of a server that is written without one. */
  name?: string
  /** Told by the first characters of the text when absent. */
  format?: 'json' | 'toml'
}

/**
 * Reads the servers in a text of another program: JSON with comments and trailing commas, or TOML; with one
 * of the usual wrappers (`mcpServers`, `servers`, `mcp`, `context_servers`, `mcp_servers`, …) or without.
 * Aliases of keys are mapped to those of an entry, and keys without a meaning here are left out with a notice.
 *
 * Permissions in the words of other programs are never taken: they would decide what runs without a question. Throws
 * `invalid` when the text cannot be parsed or contains no server.
 */
export function readForeignEntries(text: string, hint: ForeignHint = {}): ForeignEntries {
  const root = parseText(text, hint)
  const found = [...findServers(root, hint.name)]
  if (found.length === 0) throw unreadable('it contains no server', toMisspeltHint(root))
  const inputs = readInputs(root)
  const entries: ForeignEntries = { servers: [], notices: [] }
  for (const one of found) addServer(entries, one, inputs)
  return entries
}

/** A server as the text has it. */
interface FoundServer {
  /** Undefined when the text has no name for it. */
  name: string | undefined
  value: unknown
  /** The key of the object that contains it: some programs give keys a meaning of their own. */
  wrapper: string
  project?: string
}

function parseText(text: string, { format }: ForeignHint): JsonObject | unknown[] {
  if ((format ?? (looksLikeJson(text) ? 'json' : 'toml')) === 'toml') {
    const parsed = parseToml('', text)
    if (parsed.ok) return parsed.value.table
    const { line, message } = parsed.problems[0]!
    throw unreadable(`line ${line} is ${message}`)
  }
  try {
    const value = parseJsonc(text)
    if (isObject(value) || Array.isArray(value)) return value
  } catch (reason) {
    // Only the position: the rest of the message quotes the text, which may contain a secret.
    const at = / \(line \d+ column \d+\)/.exec(String(reason))?.[0] ?? ''
    throw unreadable(`it is not valid JSON${at}`)
  }
  throw unreadable('it is not a JSON object')
}

function* findServers(value: unknown, name?: string, wrapper = '', project?: string): Generator<FoundServer> {
  const place = { wrapper, ...(project !== undefined && { project }) }
  if (Array.isArray(value)) {
    for (const one of value) {
      const own = isObject(one) && typeof one['name'] === 'string' ? one['name'] : name
      yield { ...place, name: own, value: one }
    }
    return
  }
  if (!isObject(value)) return
  if (holdsCommand(value)) {
    yield { ...place, name: name ?? toText(value['name']), value }
    return
  }
  const wrapped = WRAPPERS.filter((key) => isWrapper(value[key]))
  for (const key of wrapped) yield* findServers(value[key], undefined, key, project)
  for (const [path, one] of Object.entries(isObject(value['projects']) ? value['projects'] : {})) {
    if (isObject(one) && isObject(one['mcpServers']))
      yield* findServers(one['mcpServers'], undefined, 'mcpServers', path)
  }
  if (wrapped.length > 0 || isObject(value['projects'])) return
  if (wrapper === '' && !Object.values(value).some(holdsCommand)) return
  for (const [key, one] of Object.entries(value)) {
    const isSetting = wrapper === 'mcp' && !isObject(one) // Gemini keeps lists of names in it
    if (!isSetting) yield { ...place, name: key, value: one }
  }
}

/** Whether the value of a wrapper's key contains servers, and is not itself a server of that name. */
function isWrapper(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isObject) : isObject(value) && !holdsCommand(value)
}

function addServer(
  { servers, notices }: ForeignEntries,
  { name: written, value, wrapper, project }: FoundServer,
  inputs: readonly InputDescription[],
): void {
  const reading = isObject(value)
    ? toEntryTable(value, { wrapper, inputs })
    : { problem: 'it is not an object' }
  const label = written === undefined ? 'A server without a name' : `The server ${JSON.stringify(written)}`
  if ('problem' in reading) {
    notices.push(`${label} is left out: ${reading.problem}`)
    return
  }
  const others = servers.filter((one) => one.project === project).map(({ name }) => name)
  const name = toFreeName(toServerName(written ?? guessName(reading.table)), others)
  const renamed =
    written !== undefined && name !== written ? [`${JSON.stringify(written)} is called ${name} here`] : []
  servers.push({
    ...reading,
    name,
    notices: [...renamed, ...reading.notices],
    ...(project !== undefined && { project }),
  })
}

/** Converts any text to a valid server name: lower case, with `-` for what a name cannot have. */
export function toServerName(text: string): string {
  const name = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/_{2,}/g, '_')
    .replace(/^[_-]+/, '')
    .slice(0, MAX_NAME)
    .replace(/[_-]+$/, '')
  return name === '' ? 'server' : name
}

/** Returns the name, or the name with a number when another server's tools would have the same names. */
function toFreeName(name: string, others: readonly string[]): string {
  const taken = new Set(others.map((one) => one.replaceAll('-', '_')))
  let free = name
  for (let n = 2; taken.has(free.replaceAll('-', '_')); n++) {
    const end = `-${n}`
    free = name.slice(0, MAX_NAME - end.length).replace(/[_-]+$/, '') + end
  }
  return free
}

/** Guesses a name: the package that a launcher runs without the usual affixes, the program, or the host. */
function guessName({ url, command, args }: JsonObject): string {
  if (typeof url === 'string') return readHost(url).replace(/^(?:mcp|api|www)\.|\.[a-z]+$/g, '')
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string')
  const isLauncher =
    /(?:^|[/\\])(?:npx|bunx|pnpx|uvx|pipx|npm|pnpm|yarn|uv|bun|deno|node|python3?|docker|cmd)(?:\.\w+)?$/i
  const [main = ''] = words.filter(
    (word, i) => !(i === 0 && isLauncher.test(word)) && /^[@\w./\\]/.test(word) && !SUBCOMMANDS.has(word),
  )
  const [last = ''] = main.split(/[/\\]/).slice(-1)
  return last
    .replace(/(?!^)@.*$|==.*$|\.\w{1,3}$|:[\w.]+$/g, '')
    .replace(/^mcp-server-|^server-|^mcp-|-mcp-server$|-mcp$|-server$/g, '')
}

function readHost(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function toMisspeltHint(root: unknown): string | undefined {
  const suggestion = Object.keys(isObject(root) ? root : {}).find(
    (key) => didYouMean(key, HOLDERS) !== undefined,
  )
  if (suggestion !== undefined && !HOLDERS.includes(suggestion)) return didYouMean(suggestion, HOLDERS)
  const keys = isObject(root) ? Object.keys(root).slice(0, 5) : []
  return keys.length === 0
    ? undefined
    : `a server has "command" or "url", and the text has ${keys.map((key) => JSON.stringify(key)).join(', ')}`
}

function unreadable(why: string, hint?: string): CrabError {
  return new CrabError('invalid', `Cannot read the servers: ${why}`, {
    hint: hint ?? `for example {"mcpServers": {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}}}`,
  })
}

/** The keys under which programs keep their servers. */
const WRAPPERS = [
  'mcpServers', // Claude, Cursor, Windsurf, Gemini, Cline and others
  'servers', // VS Code
  'mcp.servers',
  'mcp', // opencode; VS Code keeps "servers" in it
  'context_servers', // Zed
  'mcp_servers', // Codex, librefang
  'amp.mcpServers',
  'server', // mcp.toml
  'mcps',
]
const HOLDERS = ['command', 'url', ...WRAPPERS]
const MAX_NAME = 32
const SUBCOMMANDS = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'c', 'start'])
