import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import { HOOKS_HINT, namesServers, withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { findNameClashes, mcpEntry } from './mcp-entry.ts'
import { permissionsTable } from './permissions.ts'
import { checkValue, filledString, strictTable, tableCheck, wholeNumber } from './schema.ts'
import type { Result, ValidationIssue } from './validation-issue.ts'

/** What `agents/<name>.toml` may say, with its defaults. Empty `skills` and `tools` are unrestricted (decision 4). */
export const agentTable = strictTable({
  id: z.exactOptional(
    z.string().check(z.regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'must be an id that crabtalk wrote: a ULID')),
  ),
  description: z._default(z.string(), ''),
  model: z.exactOptional(filledString()),
  max_iterations: z._default(wholeNumber(1), 100),
  thinking: z._default(z.boolean(), false),
  skills: z._default(z.array(filledString()), []),
  tools: z._default(z.array(filledString()), []),
  tool_choice: z.exactOptional(filledString()),
  permissions: z.exactOptional(permissionsTable),
  components: z.exactOptional(z.union([z.boolean(), z.array(filledString())])),
  mcps: z._default(z.array(mcpEntry), []),
}).check(tableCheck((table) => findNameClashes(table['mcps'])))

/** What one agent file says. */
type AgentTable = z.infer<typeof agentTable>

/** An agent: its file, the name of the file, the prompt beside it. Keys are those of the file. */
export interface AgentConfig extends AgentTable {
  /** A ULID that never changes; conversations belong to it (decision 35). */
  id: string
  name: string
  prompt: string
}

/** Whether an agent's file says anything of permission, for itself or for a server. */
export function hasRules({ permissions, mcps }: AgentTable): boolean {
  return permissions !== undefined || mcps.some((entry) => entry.permissions !== undefined)
}

/** Checks what a file, or a client, says of an agent. Legacy keys are dropped, the old form of `mcps` is named. */
export function checkAgent(table: JsonObject): Result<AgentTable, ValidationIssue> {
  const named = findNamedServers(table)
  const { mcps: _, ...rest } = table
  const outcome = checkValue(agentTable, withoutEmptyKeys(withoutLegacyKeys(named.length > 0 ? rest : table)))
  const problems = outcome.ok ? named : [...named, ...outcome.problems.map(explain)]
  return problems.length > 0 ? { ok: false, problems } : outcome
}

/** What most names are; the classes of Unicode take a millisecond of a start. */
const PLAIN_NAME = /^[A-Za-z0-9][\w-]{0,63}$/

/** What is wrong with an agent's name, as the end of a sentence; undefined when nothing is (decision 35). */
export function nameProblem(name: string): string | undefined {
  const isName = PLAIN_NAME.test(name) || /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u.test(name.normalize('NFC'))
  if (!isName) {
    return 'a name is 1 to 64 letters, digits, _ or -, and begins with a letter or digit'
  }
  return Buffer.byteLength(name) > MAX_NAME_BYTES ? 'the name is too long for a file' : undefined
}

/** Two names that are equal after this are one name. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** The form of before RFC 0193, which migrateServers() brings to that of today. */
function findNamedServers(table: JsonObject): ValidationIssue[] {
  if (!namesServers(table)) return []
  const message = '"mcps" names servers of a registry; an agent holds its servers itself, as [[mcps]] tables'
  return [{ path: ['mcps'], message, hint: 'crabtalk writes them into the file when it starts or reloads' }]
}

/** Keys that people look for here and that live elsewhere. */
function explain(finding: ValidationIssue): ValidationIssue {
  const hint = finding.path.length === 1 ? ELSEWHERE.get(String(finding.path[0])) : undefined
  return hint === undefined ? finding : { ...finding, hint }
}

const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['hooks', HOOKS_HINT],
  ['name', 'the name of an agent is the name of its file'],
  ['prompt', 'the prompt is the .md file beside this one'],
  ['system_prompt', 'the prompt is the .md file beside this one'],
])

/** Leaves room for the suffixes of temporary files below the 255 bytes of a file name. */
const MAX_NAME_BYTES = 200
