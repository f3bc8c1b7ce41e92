import type { JsonObject } from '../../core/base/message.ts'
import type { CredentialResolver } from '../credentials/types.ts'

/** The entry with the values of its placeholders, or the variables that have none, in order. */
export type Expansion = { ok: true; entry: JsonObject } | { ok: false; missing: readonly string[] }

/**
 * Replaces `${VAR}` and `${VAR:-default}` in the command, arguments, environment, directory, address, headers
 * and token of an entry. The default stands for a variable that is unset or empty. CRABTALK_PROJECT_DIR and
 * CLAUDE_PROJECT_DIR are the project, whatever the resolver has.
 */
export async function expandEntry(
  table: JsonObject,
  resolver: CredentialResolver,
  projectDir: string,
): Promise<Expansion> {
  const names = new Set(findVariables(table).map(({ name }) => name))
  const values = new Map<string, string>(PROJECT_NAMES.map((name) => [name, projectDir]))
  for (const name of names) {
    const found = values.has(name) ? undefined : await resolver.find(name)
    if (found) values.set(name, found.value)
  }
  const missing = new Set<string>()
  const replace = (text: string) =>
    text.replace(PLACEHOLDER, (_, name: string, fallback?: string) => {
      const value = values.get(name)
      if (fallback !== undefined) return value || fallback
      if (value === undefined) missing.add(name)
      return value ?? ''
    })
  const entry = mapTexts(table, replace)
  return missing.size === 0 ? { ok: true, entry } : { ok: false, missing: [...missing] }
}

/** A placeholder of an entry. */
interface Variable {
  name: string
  hasDefault: boolean
}

/** Lists the variables that an entry names, in order. */
export function findVariables(table: JsonObject): Variable[] {
  const found: Variable[] = []
  mapTexts(table, (text) => {
    for (const [, name = '', fallback] of text.matchAll(PLACEHOLDER)) {
      found.push({ name, hasDefault: fallback !== undefined })
    }
    return text
  })
  return found
}

const PLACEHOLDER = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g
const PROJECT_NAMES = ['CRABTALK_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'] as const
const EXPANDED = new Set(['command', 'args', 'env', 'cwd', 'url', 'headers', 'auth'])

/** Applies a change to every text of the keys that are expanded. */
function mapTexts(table: JsonObject, change: (text: string) => string): JsonObject {
  const changed = (value: unknown): unknown => {
    if (typeof value === 'string') return change(value)
    if (Array.isArray(value)) return value.map(changed)
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, changed(inner)]))
  }
  return Object.fromEntries(
    Object.entries(table).map(([key, value]) => [key, EXPANDED.has(key) ? changed(value) : value]),
  )
}
