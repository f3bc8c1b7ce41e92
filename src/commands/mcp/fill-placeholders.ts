import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { isVaultHelper } from '../../core/base/secrets/vault-words.ts'

/** An entry whose placeholders have values, and the variables of this shell that were used. */
export interface FilledEntry {
  entry: JsonObject
  used: ReadonlySet<string>
  /** The variables that are not set. */
  missing: ReadonlySet<string>
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in a pasted entry by the variables of the shell. A placeholder
 * without a value stays, and so does one in the arguments that the entry's own `env` has: the server expands it.
 */
export function expandPlaceholders(entry: JsonObject, { env, cwd }: Pick<Host, 'env' | 'cwd'>): FilledEntry {
  const own = isObject(entry['env']) ? entry['env'] : {}
  const used = new Set<string>()
  const missing = new Set<string>()
  const fill = (text: string, key: string) =>
    text.replace(PLACEHOLDER, (match, name: string, fallback?: string) => {
      if (key !== 'env' && Object.hasOwn(own, name)) return match
      const value = PROJECT.has(name) ? cwd() : env[name] || fallback
      if (value === undefined) missing.add(name)
      else if (!PROJECT.has(name) && name !== 'HOME' && env[name]) used.add(name)
      return value ?? match
    })
  const change = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return fill(value, key)
    if (Array.isArray(value)) return value.map((one) => change(one, key))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one, key)]))
  }
  const pairs = Object.entries(entry).map(([key, value]) => [
    key,
    FILLED.has(key) && !(Array.isArray(value) && isVaultHelper(value)) ? change(value, key) : value,
  ])
  return { entry: Object.fromEntries(pairs), used, missing }
}

/** The error for placeholders without a value; `labels` are the words of the page for some of them. */
export function unsetError(
  server: string,
  missing: ReadonlySet<string>,
  labels: ReadonlyMap<string, string>,
): CrabError {
  const names = [...missing]
  const shown = names.map((name) => (labels.has(name) ? `${name} (${labels.get(name)})` : name))
  const [first = ''] = names
  return new CrabError(
    'usage',
    `Cannot add ${server}: ${shown.join(', ')} ${names.length === 1 ? 'is' : 'are'} not set here`,
    {
      hint: `set it, for example with: read -rs ${first}; export ${first}; or use --no-verify to write the entry without it`,
    },
  )
}

const PLACEHOLDER = /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g
const FILLED = new Set(['command', 'args', 'env', 'cwd', 'url', 'headers', 'auth', 'auth_helper'])
const PROJECT = new Set(['CRABTALK_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'])
