import type { JsonObject } from '../base/message.ts'
import type { AgentConfig } from './agent-schema.ts'
import type { McpEntry } from './mcp-entry.ts'
import { type Finding, formatPath, type KeyPath } from './problem.ts'
import { isTable } from './schema.ts'

/** What stands for a secret wherever a configuration is shown; in an update it means: keep what is stored. */
export const REDACTED = '[secret]'

/** An agent that can be shown: env, header and auth values are replaced (decision 19). */
export function redact(config: AgentConfig): AgentConfig {
  return { ...config, mcps: config.mcps.map(redactEntry) }
}

/** An address that can be shown: without the name and password that may stand before its host. */
export function hidePassword(address: string): string {
  return address.replace(/(?<=:\/\/)[^/]*@/, `${REDACTED}@`)
}

function redactEntry(entry: McpEntry): McpEntry {
  const { env, headers, auth } = entry
  return {
    ...entry,
    ...(env && { env: hideValues(env) }),
    ...(headers && { headers: hideValues(headers) }),
    ...(auth !== undefined && { auth: REDACTED }),
  }
}

/** Servers as a client sends them back, with the stored values where it kept the placeholder; matched by name. */
export function restoreSecrets(mcps: unknown, stored: unknown): unknown {
  if (!Array.isArray(mcps)) return mcps
  const old = (Array.isArray(stored) ? stored : []).filter(isTable)
  return mcps.map((entry) => {
    const source = isTable(entry) ? old.find(({ name }) => name === entry['name']) : undefined
    return source === undefined ? entry : restoreEntry(entry, source)
  })
}

/** Placeholders that nothing was stored for: writing them would destroy the secret they stand for. */
export function findPlaceholders(mcps: unknown): Finding[] {
  return (Array.isArray(mcps) ? mcps : []).filter(isTable).flatMap((entry, i) => {
    const { env, headers, auth } = entry
    return [
      ...hiddenKeys(env).map((key) => ['env', key]),
      ...hiddenKeys(headers).map((key) => ['headers', key]),
      ...(auth === REDACTED ? [['auth']] : []),
    ].map((path) => toFinding(['mcps', i, ...path]))
  })
}

function restoreEntry(entry: JsonObject, source: JsonObject): JsonObject {
  const { env, headers, auth } = entry
  return {
    ...entry,
    ...(isTable(env) && { env: restoreValues(env, source['env']) }),
    ...(isTable(headers) && { headers: restoreValues(headers, source['headers']) }),
    ...(auth === REDACTED && { auth: source['auth'] ?? auth }),
  }
}

function restoreValues(values: JsonObject, stored: unknown): JsonObject {
  const old = isTable(stored) ? stored : {}
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value === REDACTED && Object.hasOwn(old, key) ? old[key] : value]),
  )
}

function hideValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]))
}

function hiddenKeys(values: unknown): string[] {
  return isTable(values) ? Object.keys(values).filter((key) => values[key] === REDACTED) : []
}

function toFinding(path: KeyPath): Finding {
  const message = `"${formatPath(path)}" is ${REDACTED}, and there is no stored value to keep`
  return { path, message, hint: 'give the value itself' }
}
