import type { JsonObject } from '../base/message.ts'
import { withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { type McpEntry, mcpEntry } from './mcp-entry.ts'
import { checkValue, isTable } from './schema.ts'
import type { Result, ValidationIssue } from './validation-issue.ts'

/** The servers of the old registry by name, as written there (ADR 0118). */
export type OldRegistry = ReadonlyMap<string, JsonObject>

/** Returns the servers in a registry file: `[mcps.NAME]` tables, a `[[mcps]]` list, or one table per NAME. */
export function registryIn(table: JsonObject): OldRegistry {
  const nested = KEYS.map((key) => table[key]).find(holdsServers)
  return new Map(nested === undefined ? toServerPairs(table) : toServerPairs(nested))
}

/** Returns the servers in config.toml; undefined when it has no such table. */
export function registryInConfig({ mcps }: JsonObject): OldRegistry | undefined {
  return mcps === undefined ? undefined : new Map(holdsServers(mcps) ? toServerPairs(mcps) : [])
}

/** Converts a server of the registry to an agent's entry. Keys without meaning are dropped. */
export function migrateRegistryEntry(name: string, server: JsonObject): Result<McpEntry, ValidationIssue> {
  const isRemote = typeof server['url'] === 'string' && server['url'] !== ''
  const relevant = Object.entries(server).filter(([key, value]) => {
    if (isRemote && PROGRAM_KEYS.has(key)) return false // a URL took precedence over a program
    // A boolean `auth` meant whether a login is needed; the server reports that itself.
    return typeof value !== 'boolean' || key !== 'auth'
  })
  const filled = relevant.filter(([, value]) => !isEmpty(value))
  const table = { ...Object.fromEntries(filled), name: toServerName(name) }
  const [entry] = withoutEmptyKeys(withoutLegacyKeys({ mcps: [table] }))['mcps'] as JsonObject[]
  return checkValue(mcpEntry, entry)
}

/** Converts a name to a valid one where possible. A name that stays invalid is refused later. */
function toServerName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/_{2,}/g, '_')
    .replace(/^[_-]+|_+$/g, '')
}

function holdsServers(value: unknown): value is JsonObject | JsonObject[] {
  if (Array.isArray(value)) return value.every((one) => isTable(one) && typeof one['name'] === 'string')
  return isTable(value) && Object.values(value).every(isTable)
}

function toServerPairs(value: JsonObject | JsonObject[]): [string, JsonObject][] {
  if (Array.isArray(value)) return value.map((server) => [String(server['name']), server])
  return Object.entries(value).flatMap(([name, server]) => (isTable(server) ? [[name, server]] : []))
}

function isEmpty(value: unknown): boolean {
  return isTable(value) ? Object.keys(value).length === 0 : Array.isArray(value) && value.length === 0
}

const KEYS = ['mcps', 'servers', 'mcp_servers']
const PROGRAM_KEYS = new Set(['command', 'args', 'env', 'cwd'])
