import { CrabError } from '../base/errors.ts'
import type { JsonObject } from '../base/message.ts'
import { didYouMean } from '../base/nearest.ts'
import type { AgentConfig, InvalidServer } from './agent-schema.ts'
import { withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { type McpEntry, mcpEntry } from './mcp-entry.ts'
import { checkValue, isTable } from './schema.ts'
import { restoreSecrets } from './secrets.ts'
import { formatLocation, inputError, type ValidationIssue } from './validation-issue.ts'

/**
 * Validates an entry from a client, and restores stored secrets where the client kept the placeholder.
 *
 * Throws `invalid` with a message that begins with `what`.
 */
export function checkMcpEntry(what: string, sent: JsonObject, stored: unknown): McpEntry {
  const { mcps, lost } = restoreSecrets([sent], stored)
  const [table] = withoutEmptyKeys(withoutLegacyKeys({ mcps }))['mcps'] as [JsonObject]
  const outcome = checkValue(mcpEntry, table)
  const issues = [...(outcome.ok ? [] : outcome.problems), ...lost.map(withoutIndex)]
  if (outcome.ok && issues.length === 0) return outcome.value
  throw inputError(what, issues)
}

/** Replaces the entry of the same name, or appends the entry. */
export function putMcpEntry(entries: readonly JsonObject[], entry: McpEntry): JsonObject[] {
  const index = entries.findIndex(({ name }) => name === entry.name)
  return index < 0 ? [...entries, entry] : entries.with(index, entry)
}

/** Returns the `[[mcps]]` tables of an agent's file, unvalidated. */
export function readMcpEntries(table: JsonObject): JsonObject[] {
  const { mcps } = table
  return Array.isArray(mcps) ? mcps.filter(isTable) : []
}

/** Returns an agent's entry of that name. Throws `missing` with the nearest name. */
export function findMcpEntry<T extends { name?: unknown }>(
  agent: string,
  entries: readonly T[],
  name: string,
): T {
  const entry = entries.find((one) => one.name === name)
  if (entry) return entry
  const names = entries.map((one) => String(one.name))
  const knownNames =
    names.length > 0
      ? `its servers are ${names.map((one) => JSON.stringify(one)).join(', ')}`
      : `${agent} has no servers; crabtalk mcp catalog lists some to install`
  throw new CrabError('missing', `Cannot find the server "${name}": the agent "${agent}" does not have it`, {
    hint: didYouMean(name, names) ?? knownNames,
  })
}

/**
 * Returns the name of another entry whose tools would have the same names as this one's; undefined when the
 * name is free.
 */
export function findNameClash(entries: readonly { name?: unknown }[], name: string): string | undefined {
  const fold = (text: unknown) => String(text).replaceAll('-', '_')
  const clash = entries.find((one) => fold(one.name) === fold(name))
  return clash && String(clash.name)
}

/**
 * Restores stored secrets in an entry where the client kept the placeholder, without any other check. Throws `invalid`
 * with a message that begins with `what`.
 */
export function restoreEntry(what: string, sent: JsonObject, stored: unknown): JsonObject {
  const { mcps, lost } = restoreSecrets([sent], stored)
  if (lost.length > 0) throw inputError(what, lost.map(withoutIndex))
  return (mcps as [JsonObject])[0]
}

/** Converts an issue in a list of one entry to an issue of that entry. */
function withoutIndex({ path, message, ...rest }: ValidationIssue): ValidationIssue {
  return { ...rest, path: path.slice(2), message: message.replace('mcps[0].', '') }
}

/** Returns the entry of an agent's server. Throws `config` for one whose entry is invalid, as findMcpEntry() does else. */
export function findAgentServer(
  { name: agent, mcps, invalidMcps }: Pick<AgentConfig, 'name' | 'mcps' | 'invalidMcps'>,
  name: string,
): McpEntry {
  const invalid = invalidMcps?.find((one) => one.name === name)
  if (invalid) throw toInvalidEntryError(invalid)
  return findMcpEntry(agent, mcps, name)
}

/** Returns the error for using a server whose entry is invalid: all of its problems, and where to correct it. */
export function toInvalidEntryError({ name, problems }: InvalidServer): CrabError {
  const why = problems.map(({ message }) => message).join('; ')
  const hint = `correct it in ${problems.map(formatLocation).join(', ')}`
  return new CrabError('config', `Cannot use the MCP server "${name}": its entry is invalid: ${why}`, {
    hint,
  })
}

/** The error for changing a server that comes from a port file as if an agent's file declared it. */
export function portFileError(what: string, agent: string, name: string): CrabError {
  const file = `agents/${agent}.toml`
  return new CrabError('invalid', `${what}: it comes from the port file run/${name}.port, not from ${file}`, {
    hint: `stop the component, or change "components" in ${file}; a server of that name in the file takes precedence`,
  })
}
