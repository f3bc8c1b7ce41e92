import { isObject } from '../base/json.ts'
import type { JsonObject } from '../base/message.ts'
import { REDACTED, redactValue, redactWords } from '../base/secrets/redact.ts'
import { restoreWords } from '../base/secrets/restore.ts'
import { isSecretName } from '../base/secrets/secret-names.ts'
import type { AgentConfig } from './agent-schema.ts'
import type { McpEntry } from './mcp-entry.ts'
import { isTable } from './schema.ts'
import { findOtherReceiver, isSameProgram, isWords } from './secret-receiver.ts'
import { formatPath, type KeyPath, type ValidationIssue } from './validation-issue.ts'

/** Returns an agent that is safe to show: without the secrets of its MCP entries. */
export function redact(config: AgentConfig): AgentConfig {
  return { ...config, mcps: config.mcps.map(redactEntry) }
}

/**
 * Returns an entry that is safe to show: every value of `env`, `headers` and `auth` is hidden, as is
 * everything that looks like a secret in the command line, the URL, the helpers' command lines and `origin`.
 * Unfilled placeholders stay.
 */
export function redactEntry(entry: McpEntry): McpEntry {
  const { env, headers, auth, command, args, url, origin } = entry
  const { auth_helper: authHelper, env_helper: envHelper } = entry
  const [program = '', ...words] = redactWords([command ?? '', ...(args ?? [])])
  return {
    ...entry,
    ...(env && { env: mapValues(env, redactValue) }),
    ...(headers && { headers: mapValues(headers, redactValue) }),
    ...(auth !== undefined && { auth: redactValue(auth) }),
    ...(command !== undefined && { command: program }),
    ...(args && { args: words }),
    ...(url !== undefined && { url: redactWords([url])[0]! }),
    ...(authHelper && { auth_helper: redactWords(authHelper) }),
    ...(envHelper && { env_helper: redactWords(envHelper) }),
    ...(origin && { origin: redactTree(origin) }),
  }
}

/** Servers with their secrets restored, and the placeholders that have no stored value. */
export interface RestoredServers {
  mcps: unknown
  /** The issues. Storing the servers despite them would destroy the secrets. */
  lost: ValidationIssue[]
}

/**
 * Restores stored secrets in servers that a client sends back with REDACTED. A secret comes from the server
 * of the same name and the same position in the same key. It is restored only for the program or host that it
 * was stored for.
 */
export function restoreSecrets(mcps: unknown, stored: unknown): RestoredServers {
  if (!Array.isArray(mcps)) return { mcps, lost: [] }
  const lost: ValidationIssue[] = []
  const restored = mcps.map((entry: unknown, i) => {
    if (!isTable(entry)) return entry
    return restoreStored(entry, storedEntry(entry, stored), (path, text, why) =>
      lost.push(toIssue(['mcps', i, ...path], text, why)),
    )
  })
  return { mcps: restored, lost }
}

/**
 * Receives the path of a text in which REDACTED remains. `why` is given unless the reason is that nothing is
 * stored.
 */
type Miss = (path: KeyPath, text: string, why?: string) => void

function storedEntry({ name }: JsonObject, stored: unknown): JsonObject {
  const entries = (Array.isArray(stored) ? stored : []).filter(isTable)
  return entries.find((one) => one['name'] === name) ?? {}
}

/** Restores one entry. Restores nothing if another program or host would receive the secrets. */
function restoreStored(entry: JsonObject, source: JsonObject, miss: Miss): JsonObject {
  const other = findOtherReceiver(entry, source)
  if (other !== undefined) return restoreFrom({}, entry, (path, text) => miss(path, text, other))
  const others = ['auth_helper', 'env_helper'].filter((key) => !isSameProgram(entry[key], source[key]))
  return restoreFrom({ ...source, ...Object.fromEntries(others.map((key) => [key, []])) }, entry, miss)
}

/**
 * Restores an entry from its stored form. The program and its arguments are restored together, as one command
 * line.
 */
function restoreFrom(source: JsonObject, entry: JsonObject, miss: Miss): JsonObject {
  const { command, args, ...rest } = entry
  const restored = restoreTable(rest, source, [], miss)
  if (typeof command !== 'string' || !isWords(args)) {
    return { ...entry, ...restored, ...restoreTable(pick({ command, args }), source, [], miss) }
  }
  const { command: program, args: words } = source
  const stored = [typeof program === 'string' ? program : '', ...(isWords(words) ? words : [])]
  const { words: all, lost } = restoreWords([command, ...args], stored)
  for (const i of lost) miss(i === 0 ? ['command'] : ['args', i - 1], all[i]!)
  return { ...entry, ...restored, command: all[0], args: all.slice(1) }
}

function pick(table: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined))
}

function restoreTable(table: JsonObject, stored: JsonObject, path: KeyPath, miss: Miss): JsonObject {
  const entries = Object.entries(table).map(([key, value]) => {
    const before = Object.hasOwn(stored, key) ? stored[key] : undefined
    return [key, restoreTree(value, before, [...path, key], miss)]
  })
  return Object.fromEntries(entries)
}

/**
 * Restores a value. A text that is entirely REDACTED becomes the stored one. In other texts, and in lists of
 * texts, the surrounding text identifies the secret.
 */
function restoreTree(value: unknown, stored: unknown, path: KeyPath, miss: Miss): unknown {
  if (typeof value === 'string') {
    if (value === REDACTED && typeof stored === 'string') return stored
    const { words, lost } = restoreWords([value], typeof stored === 'string' ? [stored] : [])
    if (lost.length > 0) miss(path, value)
    return words[0]
  }
  if (isWords(value)) {
    const { words, lost } = restoreWords(value, isWords(stored) ? stored : [])
    for (const i of lost) miss([...path, i], words[i]!)
    return words
  }
  if (Array.isArray(value)) {
    const before: unknown[] = Array.isArray(stored) ? stored : []
    return value.map((one: unknown, i) => restoreTree(one, before[i], [...path, i], miss))
  }
  return isTable(value) ? restoreTable(value, isTable(stored) ? stored : {}, path, miss) : value
}

function redactTree<T>(value: T, key = ''): T {
  const hidden = (): unknown => {
    if (typeof value === 'string') return isSecretName(key) ? redactValue(value) : redactWords([value])[0]
    if (isWords(value)) return redactWords(value)
    if (Array.isArray(value)) return value.map((one: unknown) => redactTree(one, key))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, redactTree(one, name)]))
  }
  return hidden() as T
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
}

function toIssue(path: KeyPath, text: string, why = 'there is no stored value to keep'): ValidationIssue {
  const holds = text === REDACTED ? `is ${REDACTED}` : `holds ${REDACTED}`
  const message = `"${formatPath(path)}" ${holds}, and ${why}`
  return { path, message, hint: 'give the value itself' }
}
