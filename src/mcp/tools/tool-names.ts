import { sha256 } from '../../core/base/sha256.ts'

/** A server's name, and the remote names of its tools in its own order. */
export interface NamedServer {
  name: string
  tools: readonly string[]
}

/**
 * Names for the model (decision 5): `mcp__<server>__<tool>` of `[A-Za-z0-9_-]`, at most 64 characters, no two alike.
 *
 * Servers come in the order of their declaration; the answer has the shape of what was given. Where a name is too long
 * or taken, it is shortened and gets 8 hex digits of a hash. Nobody reads a name back: a route keeps the remote one.
 */
export function nameTools(servers: readonly NamedServer[]): string[][] {
  const taken = new Set<string>()
  return servers.map(({ name, tools }) => tools.map((tool) => take(toName(name, tool, taken), taken)))
}

const MAX_LENGTH = 64
const HASH_LENGTH = 8

function toName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const name = `mcp__${fold(server)}__${fold(tool) || '_'}`
  if (name.length <= MAX_LENGTH && !taken.has(name)) return name
  const stem = name.slice(0, MAX_LENGTH - HASH_LENGTH - 1).replace(/_+$/, '')
  let hashed = `${stem}_${toShortHash(`${server}:${tool}`)}`
  for (let again = 2; taken.has(hashed); again++)
    hashed = `${stem}_${toShortHash(`${server}:${tool}:${again}`)}`
  return hashed
}

function take(name: string, taken: Set<string>): string {
  taken.add(name)
  return name
}

/** One `_` for each code point that models' interfaces do not take. */
function fold(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, '_')
}

function toShortHash(text: string): string {
  return sha256(text).toString('hex').slice(0, HASH_LENGTH)
}
