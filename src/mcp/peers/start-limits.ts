import { basename } from 'node:path'
import { Semaphore } from '../../core/base/semaphore.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ServerTarget } from '../fingerprint.ts'

/** Limits how many servers of a node start concurrently. */
export interface StartSlots {
  any: Semaphore
  /** Limits those that may have to download their program first. */
  installing: Semaphore
}

export function newStartSlots(): StartSlots {
  return { any: new Semaphore(8), installing: new Semaphore(3) }
}

/** Whether a command downloads its program when it is not installed. */
export function isInstaller(target: ServerTarget): boolean {
  if (target.transport !== 'stdio') return false
  return INSTALLERS.has(basename(target.command.replaceAll('\\', '/')).replace(/\.(cmd|exe|ps1)$/i, ''))
}

/** Returns the time limit of a start in milliseconds: the longest of the declarations. */
export function startupLimit(entries: readonly McpEntry[], mayInstall: boolean): number {
  const usual = mayInstall ? INSTALLING_MS : USUAL_MS
  return Math.max(...entries.map(({ startup_timeout_ms: ms = usual }) => ms), 1)
}

/**
 * Returns how long, in milliseconds, a request waits when the server asks to be retried later: the longest
 * call timeout of the declarations.
 */
export function callLimit(entries: readonly McpEntry[]): number {
  return Math.max(...entries.map(({ timeout_ms: ms = CALL_TIMEOUT_MS }) => ms), 1)
}

/**
 * Returns after how many milliseconds an unused server is ended: the longest limit of the declarations;
 * undefined when one has none.
 */
export function idleLimit(entries: readonly McpEntry[]): number | undefined {
  const limits = entries.map(({ idle_timeout_ms: ms = Infinity }) => ms)
  const limit = Math.max(...limits, 1)
  return Number.isFinite(limit) ? limit : undefined
}

const INSTALLERS = new Set(['npx', 'uvx', 'bunx', 'pnpx'])
const USUAL_MS = 10_000
const INSTALLING_MS = 60_000
const CALL_TIMEOUT_MS = 60_000
