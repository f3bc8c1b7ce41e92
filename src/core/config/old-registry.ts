import type { JsonObject } from '../base/message.ts'
import { withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { type McpEntry, mcpEntry } from './mcp-entry.ts'
import { checkValue, isTable } from './schema.ts'
import type { Result, ValidationIssue } from './validation-issue.ts'

/** The servers that agents named before RFC 0193, by that name, as the registry says them. */
export type OldRegistry = ReadonlyMap<string, JsonObject>

/** The servers in a registry file: `[mcps.NAME]` tables, a `[[mcps]]` list, or a table for each NAME. */
export function registryIn(table: JsonObject): OldRegistry {
  const nested = KEYS.map((key) => table[key]).find(holdsServers)
  return new Map(nested === undefined ? toServerPairs(table) : toServerPairs(nested))
}

/** The servers that config.toml held; undefined when it has no such table. */
export function registryInConfig({ mcps }: JsonObject): OldRegistry | undefined {
  return mcps === undefined ? undefined : new Map(holdsServers(mcps) ? toServerPairs(mcps) : [])
}

/** A server of the registry as an entry of an agent; keys that mean nothing any more are left out. */
export function migrateRegistryEntry(name: string, server: JsonObject): Result<McpEntry, ValidationIssue> {
  const isRemote = typeof server['url'] === 'string' && server['url'] !== ''
  const kept = Object.entries(server).filter(([key, value]) => {
    if (isRemote && PROGRAM_KEYS.has(key)) return false // an address came before a program
    return typeof value !== 'boolean' || key !== 'auth' // whether somebody has to log in: the server says so itself
  })
  const filled = kept.filter(([, value]) => !isEmpty(value))
  const table = { ...Object.fromEntries(filled), name: toServerName(name) }
  const [entry] = withoutEmptyKeys(withoutLegacyKeys({ mcps: [table] }))['mcps'] as JsonObject[]
  return checkValue(mcpEntry, entry)
}

/** The name as an entry may have it; one that cannot be made so stays, and is refused. */
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
