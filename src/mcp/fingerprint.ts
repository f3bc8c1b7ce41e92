import { sha256 } from '../core/base/sha256.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'

/** A program, as it is started. Every value is literal and final. */
export interface StdioTarget {
  transport: 'stdio'
  command: string
  args: readonly string[]
  /** What is declared for it; the rest of its environment is the list of mcp.md. */
  env: Readonly<Record<string, string>>
  /** Absolute. */
  cwd: string
}

/** A server that is reached by its address. */
export interface RemoteTarget {
  transport: 'http' | 'sse'
  url: string
  headers: Readonly<Record<string, string>>
  auth: string | undefined
  authHelper: readonly string[] | undefined
}

/** All that decides which server answers: what a fingerprint is made of. */
export type ServerTarget = StdioTarget | RemoteTarget

/** What every entry of a node starts from. */
export interface TargetDefaults {
  /** Working directory of a program that declares none; absolute. */
  home: string
  /** `[env]` of config.toml, laid under what an entry declares. */
  baseEnv: Readonly<Record<string, string>>
}

/** What an entry asks for, with the defaults of this node. */
export function toTarget(entry: McpEntry, { home, baseEnv }: TargetDefaults): ServerTarget {
  if (entry.url !== undefined) {
    const { url, headers = {}, auth, auth_helper: authHelper, transport = 'http' } = entry
    return { transport, url, headers, auth, authHelper }
  }
  const { command = '', args = [], env = {}, cwd = home } = entry
  return { transport: 'stdio', command, args, env: { ...baseEnv, ...env }, cwd }
}

/**
 * The identity of a connection (decision 3): SHA-256, hex, of the canonical JSON of its target. Names, filters,
 * permissions and limits are no part of it. An entry that is not shared has its owner in it.
 */
export function computeFingerprint(
  target: ServerTarget,
  { share = true }: McpEntry,
  owner: TargetOwner,
): string {
  const identity = share ? target : { ...target, owner: [owner.agentId, owner.name] }
  return sha256(canonicalJson(identity)).toString('hex')
}

/** Whose declaration it is, by names that do not change when the agent is renamed. */
export interface TargetOwner {
  agentId: string
  /** The agent's name for the server. */
  name: string
}

/** JSON without blanks, keys sorted by code unit, keys without a value left out. */
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
