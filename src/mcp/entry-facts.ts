import type { CrabError } from '../core/base/errors.ts'
import { nearest } from '../core/base/nearest.ts'
import { isSecretName } from '../core/base/secrets/secret-names.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import { matchesPieces } from '../core/policy/wildcard.ts'
import { toTarget } from './fingerprint.ts'
import { isLoopbackHost } from './oauth/special-address.ts'
import { validateTarget } from './remote/header-rules.ts'
import { showTarget } from './secrets/shown-target.ts'
import { isVisibleTool } from './tools/entry-filter.ts'

/** Returns the transport of an entry: `stdio`, `http` or `sse`. */
export function inferTransport({ url, command, transport = 'http' }: McpEntry): string {
  return url === undefined && command !== undefined ? 'stdio' : transport
}

/** Returns the command line or the address of an entry, without what looks like a secret. */
export function describeTarget(entry: McpEntry): string {
  if (entry.url === undefined && entry.command === undefined) return '' // a component whose port file is invalid
  return showTarget(toTarget(entry, { home: '', baseEnv: {} }))
}

/** Returns why the server of an entry can never be started; undefined when it can be tried. */
export function validateEntry(entry: McpEntry, home: string): CrabError | undefined {
  return validateTarget(toTarget(entry, { home, baseEnv: {} }))
}

/**
 * Finds credentials that an entry sends unencrypted to another machine: a token, a helper's, an `Authorization` header,
 * or a password in the address. Returns the host; undefined when there are none.
 */
export function findClearTextCredentials({ url = '', ...entry }: McpEntry): string | undefined {
  const address = URL.parse(url)
  if (address?.protocol !== 'http:' || isLoopbackHost(address.hostname)) return undefined
  const { auth, auth_helper: helper, headers = {} } = entry
  const isSecret = (name: string) => /^(?:proxy-)?authorization$/i.test(name) || isSecretName(name)
  const hasHeader = Object.keys(headers).some(isSecret)
  const hasAny = auth !== undefined || helper !== undefined || hasHeader || address.password !== ''
  return hasAny ? address.host : undefined
}

/** An entry of an agent with the tools of its server; undefined if they were never listed. */
interface ListedEntry {
  agent: string
  entry: McpEntry
  tools: readonly { remoteName: string; hidden: string }[] | undefined
}

/** A warning, with what to do about it. */
interface Warning {
  message: string
  hint: string
}

/**
 * Finds patterns of an entry that match none of its server's tools (a `deny` pattern then leaves open what it
 * should close), and servers of which no tool reaches the agent. Finds nothing while the tools are not known.
 */
export function findIdlePatterns({ agent, entry, tools }: ListedEntry): Warning[] {
  if (tools === undefined || tools.length === 0) return []
  const names = tools.map(({ remoteName }) => remoteName)
  const idle = listPatterns(entry).filter(({ pattern }) => {
    return !names.some((name) => matchesPieces(pattern.split('*'), name))
  })
  const warnings = idle.map(({ key, pattern }) => {
    const near = pattern.includes('*') ? undefined : nearest(pattern, names)
    const hint =
      near === undefined ? `it has ${names.slice(0, MAX_NAMES).join(', ')}` : `did you mean ${near}?`
    return { message: `${key} of ${entry.name} has ${pattern}, but no tool has that name`, hint }
  })
  if (tools.some(isVisibleTool)) return warnings
  const message = `no tool of ${entry.name} reaches ${agent}: ${tools[0]!.hidden}`
  return [
    ...warnings,
    { message, hint: "check include and exclude of the entry, and tools in the agent's file" },
  ]
}

function listPatterns({
  include = [],
  exclude = [],
  permissions = {},
}: McpEntry): { key: string; pattern: string }[] {
  const { allow = [], ask = [], deny = [] } = permissions
  const lists = {
    include,
    exclude,
    'permissions.deny': deny,
    'permissions.ask': ask,
    'permissions.allow': allow,
  }
  return Object.entries(lists).flatMap(([key, patterns]) => patterns.map((pattern) => ({ key, pattern })))
}

/** The maximum number of names in a hint. */
const MAX_NAMES = 8
