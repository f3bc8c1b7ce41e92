import { CrabError } from '../base/errors.ts'
import type { JsonObject } from '../base/message.ts'
import { didYouMean } from '../base/nearest.ts'
import { withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { type McpEntry, mcpEntry } from './mcp-entry.ts'
import { checkValue, isTable } from './schema.ts'
import { restoreSecrets } from './secrets.ts'
import { inputError, type ValidationIssue } from './validation-issue.ts'

/**
 * An entry as a client sent it, checked, with the stored secrets where it kept the placeholder.
 *
 * Throws `invalid` with a message that begins with `what`.
 */
export function checkMcpEntry(what: string, sent: JsonObject, stored: unknown): McpEntry {
  const { mcps, lost } = restoreSecrets([sent], stored)
  const [table] = withoutEmptyKeys(withoutLegacyKeys({ mcps }))['mcps'] as [JsonObject]
  const outcome = checkValue(mcpEntry, table)
  const findings = [...(outcome.ok ? [] : outcome.problems), ...lost.map(withoutIndex)]
  if (outcome.ok && findings.length === 0) return outcome.value
  throw inputError(what, findings)
}

/** The entries with this one in the place of the one of its name, else at their end. */
export function putMcpEntry(entries: readonly JsonObject[], entry: McpEntry): JsonObject[] {
  const place = entries.findIndex(({ name }) => name === entry.name)
  return place < 0 ? [...entries, entry] : entries.with(place, entry)
}

/** The `[[mcps]]` of an agent's file, as it says them. */
export function readMcpEntries(table: JsonObject): JsonObject[] {
  const { mcps } = table
  return Array.isArray(mcps) ? mcps.filter(isTable) : []
}

/** An agent's entry of that name. Throws `missing` naming the nearest. */
export function findMcpEntry<T extends { name?: unknown }>(
  agent: string,
  entries: readonly T[],
  name: string,
): T {
  const entry = entries.find((one) => one.name === name)
  if (entry) return entry
  const names = entries.map((one) => String(one.name))
  const known = names.length > 0 ? `it has ${names.join(', ')}` : 'it has none; crabtalk mcp add adds one'
  throw new CrabError(
    'missing',
    `Cannot find the server "${name}": the agent "${agent}" has none of that name`,
    {
      hint: didYouMean(name, names) ?? known,
    },
  )
}

/** What another entry is called that an agent's tools could not tell from this name; undefined when the name is free. */
export function findNameClash(entries: readonly { name?: unknown }[], name: string): string | undefined {
  const fold = (text: unknown) => String(text).replaceAll('-', '_')
  const taken = entries.find((one) => fold(one.name) === fold(name))
  return taken && String(taken.name)
}

/** A finding of a list of one entry, as one of the entry. */
function withoutIndex({ path, message, ...rest }: ValidationIssue): ValidationIssue {
  return { ...rest, path: path.slice(2), message: message.replace('mcps[0].', '') }
}
