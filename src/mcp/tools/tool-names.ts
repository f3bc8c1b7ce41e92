import { sha256 } from '../../core/base/sha256.ts'

/** A server with the remote names of its tools, in its own order. */
export interface NamedServer {
  name: string
  tools: readonly string[]
}

/**
 * Generates the tool names for the model: `mcp__<server>__<tool>` of `[A-Za-z0-9_-]`, at most 64 characters,
 * all unique.
 *
 * Servers come in the order of their declaration; the result has the shape of the input. A name that is too
 * long or taken is shortened and gets 8 hex digits of a hash. Names are never parsed back: each route stores
 * the remote name.
 */
export function nameTools(servers: readonly NamedServer[]): string[][] {
  const usedNames = new Set<string>()
  return servers.map(({ name, tools }) => tools.map((tool) => take(toName(name, tool, usedNames), usedNames)))
}

const MAX_LENGTH = 64
const HASH_LENGTH = 8

function toName(server: string, tool: string, usedNames: ReadonlySet<string>): string {
  const name = `mcp__${fold(server)}__${fold(tool) || '_'}`
  if (name.length <= MAX_LENGTH && !usedNames.has(name)) return name
  const stem = name.slice(0, MAX_LENGTH - HASH_LENGTH - 1).replace(/_+$/, '')
  let hashed = `${stem}_${toShortHash(`${server}:${tool}`)}`
  for (let again = 2; usedNames.has(hashed); again++)
    hashed = `${stem}_${toShortHash(`${server}:${tool}:${again}`)}`
  return hashed
}

function take(name: string, usedNames: Set<string>): string {
  usedNames.add(name)
  return name
}

/** Replaces each code point that model APIs do not accept by `_`. */
function fold(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, '_')
}

function toShortHash(text: string): string {
  return sha256(text).toString('hex').slice(0, HASH_LENGTH)
}

/** Returns the tool names under which permission rules cover reading a server's resources. */
export function toReadRuleNames(server: string): { name: string; remoteName: string } {
  return { name: `mcp__${server}__resources_read`, remoteName: 'resources/read' }
}
