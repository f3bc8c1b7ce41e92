import { sha256 } from '../core/base/sha256.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'

/** A program and how it is started. Every value is literal and final. */
export interface StdioTarget {
  transport: 'stdio'
  command: string
  args: readonly string[]
  /** The variables declared for it over `baseEnv`; `serverEnvironment()` adds the rest. */
  env: Readonly<Record<string, string>>
  /** A program that is run before each start and prints further variables. */
  envHelper?: readonly string[] | undefined
  /** Absolute. */
  cwd: string
}

/** A server reached at a URL. */
export interface RemoteTarget {
  transport: 'http' | 'sse'
  url: string
  headers: Readonly<Record<string, string>>
  auth: string | undefined
  authHelper: readonly string[] | undefined
}

/** Everything that decides which server answers: the input of a fingerprint. */
export type ServerTarget = StdioTarget | RemoteTarget

/** The defaults that every entry of a node inherits. */
export interface TargetDefaults {
  /** Working directory of a program that declares none; absolute. */
  home: string
  /** `[env]` of config.toml; variables that an entry declares override it. */
  baseEnv: Readonly<Record<string, string>>
}

/** Resolves an entry against the defaults of this node. */
export function toTarget(entry: McpEntry, { home, baseEnv }: TargetDefaults): ServerTarget {
  if (entry.url !== undefined) {
    const { url, headers = {}, auth, auth_helper: authHelper, transport = 'http' } = entry
    return { transport, url, headers, auth, authHelper }
  }
  const { command = '', args = [], env = {}, env_helper: envHelper, cwd = home } = entry
  return {
    transport: 'stdio',
    command,
    args,
    env: { ...baseEnv, ...env },
    ...(envHelper && { envHelper }),
    cwd,
  }
}

/**
 * Computes the identity of a connection (ADR 0074): SHA-256, hex, of the canonical JSON of its target. Names,
 * filters, permissions and limits are not part of it. An entry with `share = false` also includes its owner.
 */
export function computeFingerprint(
  target: ServerTarget,
  { share = true }: McpEntry,
  owner: TargetOwner,
): string {
  const identity = share ? target : { ...target, owner: [owner.agentId, owner.name] }
  return sha256(canonicalJson(identity)).toString('hex')
}

/** The declaration a server belongs to, identified in a way that survives renaming the agent. */
export interface TargetOwner {
  agentId: string
  /** The agent's name for the server. */
  name: string
}

/** Serializes JSON without whitespace, with keys sorted by code unit and keys without a value left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isPlain(part) ? sorted(part) : part))
}

function sorted(table: object): object {
  const entries = Object.entries(table).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries)
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
