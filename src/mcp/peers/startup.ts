import { basename } from 'node:path'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { PrioritySemaphore } from './priority-semaphore.ts'

/** How many servers of a node may be starting at once. */
export interface StartSlots {
  any: PrioritySemaphore
  /** Of those that may have to install themselves first. */
  installing: PrioritySemaphore
}

export function newStartSlots(): StartSlots {
  return { any: new PrioritySemaphore(8), installing: new PrioritySemaphore(3) }
}

/** Whether a command fetches its program when it is not there yet. */
export function isInstaller(target: ServerTarget): boolean {
  if (target.transport !== 'stdio') return false
  return INSTALLERS.has(basename(target.command.replaceAll('\\', '/')).replace(/\.(cmd|exe|ps1)$/i, ''))
}

/** How long a start may take: the most that one of the declarations wants. */
export function startupLimit(entries: readonly McpEntry[], mayInstall: boolean): number {
  const usual = mayInstall ? INSTALLING_MS : USUAL_MS
  return Math.max(...entries.map(({ startup_timeout_ms: ms = usual }) => ms), 1)
}

/** How long a request to a server may wait where it asks for it: as long as the most patient declaration waits for a call. */
export function callLimit(entries: readonly McpEntry[]): number {
  return Math.max(...entries.map(({ timeout_ms: ms = CALL_TIMEOUT_MS }) => ms), 1)
}

/** How long an unused server stays: as long as all declarations agree that it need not; undefined is for ever. */
export function idleLimit(entries: readonly McpEntry[]): number | undefined {
  const limits = entries.map(({ idle_timeout_ms: ms = Infinity }) => ms)
  const limit = Math.max(...limits, 1)
  return Number.isFinite(limit) ? limit : undefined
}

const INSTALLERS = new Set(['npx', 'uvx', 'bunx', 'pnpx'])
const USUAL_MS = 10_000
const INSTALLING_MS = 60_000
const CALL_TIMEOUT_MS = 60_000
