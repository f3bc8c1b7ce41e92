import * as z from 'zod/mini'
import { EFFORTS } from '../base/effort.ts'
import type { JsonObject } from '../base/message.ts'
import { HOOKS_HINT, namesServers, withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { findNameClashes, isServerName, mcpEntry } from './mcp-entry.ts'
import { permissionsTable } from './permissions.ts'
import { checkValue, filledString, isTable, strictTable, tableCheck, wholeNumber } from './schema.ts'
import type { FileIssue, Result, ValidationIssue } from './validation-issue.ts'

/** The schema of `agents/<name>.toml`, with defaults. Empty `skills` and `tools` mean unrestricted. */
export const agentTable = strictTable({
  id: z.exactOptional(
    z.string().check(z.regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'must be an id that crabtalk wrote: a ULID')),
  ),
  description: z._default(z.string(), ''),
  model: z.exactOptional(filledString()),
  max_iterations: z._default(wholeNumber(1), 100),
  thinking: z._default(z.boolean(), false),
  effort: z.exactOptional(z.enum(EFFORTS)),
  mode: z.exactOptional(z.enum(['ask', 'edits', 'plan', 'read-only'])),
  skills: z._default(z.array(filledString()), []),
  tools: z._default(z.array(filledString()), []),
  tool_choice: z.exactOptional(filledString()),
  permissions: z.exactOptional(permissionsTable),
  components: z.exactOptional(z.union([z.boolean(), z.array(filledString())])),
  mcps: z._default(z.array(mcpEntry), []),
}).check(tableCheck((table) => findNameClashes(table['mcps'])))

/** The validated content of an agent file. */
type AgentTable = z.infer<typeof agentTable>

/** An agent: the content and name of its file, and the prompt beside it. Keys are those of the file. */
export interface AgentConfig extends AgentTable {
  /** A ULID that never changes; conversations refer to it (ADR 0024). */
  id: string
  name: string
  prompt: string
  /** The servers of the file whose entries cannot be used; absent when there are none. */
  invalidMcps?: readonly InvalidServer[]
}

/** A server of an agent file whose entry is invalid: the agent is used without it. */
export interface InvalidServer<P = FileIssue> {
  /** Its name, or its place in the file when it has no valid one: `mcps[1]`. */
  name: string
  /** Its position among the `[[mcps]]` tables of the file. */
  index: number
  problems: readonly P[]
}

/** Returns the position of each server of an agent among the `[[mcps]]` tables of its file, in order. */
export function listEntryIndexes({ mcps, invalidMcps = [] }: AgentConfig): number[] {
  const invalid = new Set(invalidMcps.map(({ index }) => index))
  return Array.from({ length: mcps.length + invalid.size }, (_, i) => i).filter((i) => !invalid.has(i))
}

/** Whether an agent's file has a `permissions` table, for the agent or for one of its servers. */
export function hasRules({ permissions, mcps }: AgentTable): boolean {
  return permissions !== undefined || mcps.some((entry) => entry.permissions !== undefined)
}

/**
 * Validates an agent's table from a file or a client. Drops legacy keys, and reports the old form of `mcps`.
 */
export function checkAgent(table: JsonObject): Result<AgentTable, ValidationIssue> {
  const named = findNamedServers(table)
  const { mcps: _, ...rest } = table
  const outcome = checkValue(agentTable, withoutEmptyKeys(withoutLegacyKeys(named.length > 0 ? rest : table)))
  const problems = outcome.ok ? named : [...named, ...outcome.problems.map(addHint)]
  return problems.length > 0 ? { ok: false, problems } : outcome
}

/**
 * Validates the table of an agent's file like checkAgent(), but leaves out servers that are invalid by
 * themselves, unless one of them is required.
 */
export function checkStoredAgent(
  table: JsonObject,
): Result<{ agent: AgentTable; invalid: InvalidServer<ValidationIssue>[] }, ValidationIssue> {
  const whole = checkAgent(table)
  if (whole.ok) return { ok: true, value: { agent: whole.value, invalid: [] } }
  const entries: unknown[] = Array.isArray(table['mcps']) ? table['mcps'] : []
  const byEntry = Map.groupBy(whole.problems, getEntryIndex)
  const isLeftOut = (index: number) => byEntry.has(index)
  if (
    isLeftOut(-1) ||
    entries.some((entry, i) => isLeftOut(i) && isTable(entry) && entry['required'] === true)
  )
    return whole
  const rest = checkAgent({ ...table, mcps: entries.filter((_, i) => !isLeftOut(i)) })
  if (!rest.ok) return whole
  const invalid = [...byEntry].map(([index, problems]) => {
    return { name: nameOfEntry(entries[index], index), index, problems }
  })
  return { ok: true, value: { agent: rest.value, invalid: invalid.sort((a, b) => a.index - b.index) } }
}

/** Returns the position of the server that an issue is about; -1 for an issue of the rest of the file. */
export function getEntryIndex({ path: [key, index] }: ValidationIssue): number {
  return key === 'mcps' && typeof index === 'number' ? index : -1
}

function nameOfEntry(entry: unknown, index: number): string {
  const name = isTable(entry) ? entry['name'] : undefined
  return isServerName(name) ? name : `mcps[${index}]`
}

/** Matches most names. The Unicode classes of the full pattern would add a millisecond to the start-up time. */
const PLAIN_NAME = /^[A-Za-z0-9][\w-]{0,63}$/

/**
 * Returns the problem with an agent's name, as the end of a sentence; undefined for a valid name (ADR 0024).
 */
export function nameProblem(name: string): string | undefined {
  const isName = PLAIN_NAME.test(name) || /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u.test(name.normalize('NFC'))
  if (!isName) {
    return 'a name is 1 to 64 letters, digits, _ or -, and starts with a letter or digit'
  }
  return Buffer.byteLength(name) > MAX_NAME_BYTES ? 'the name is too long for a file' : undefined
}

/** Normalizes a name for comparison. Names that fold to the same text are the same name. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Reports the old form of `mcps`, which names servers of a registry. migrateServers() converts it. */
function findNamedServers(table: JsonObject): ValidationIssue[] {
  if (!namesServers(table)) return []
  const message = '"mcps" names servers of a registry; an agent holds its servers itself, as [[mcps]] tables'
  return [{ path: ['mcps'], message, hint: 'crabtalk writes them into the file when it starts or reloads' }]
}

/** Adds a hint to issues about keys that belong elsewhere. */
function addHint(issue: ValidationIssue): ValidationIssue {
  const hint = issue.path.length === 1 ? ELSEWHERE.get(String(issue.path[0])) : undefined
  return hint === undefined ? issue : { ...issue, hint }
}

const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['hooks', HOOKS_HINT],
  ['name', 'the name of an agent is the name of its file'],
  ['prompt', 'the prompt is the .md file beside this one'],
  ['system_prompt', 'the prompt is the .md file beside this one'],
])

/** The limit leaves room for the suffixes of temporary files within the 255 bytes of a file name. */
const MAX_NAME_BYTES = 200
