import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { type DaemonTarget, type FoundDaemon, findDaemon } from '../../daemon/find-daemon.ts'

/**
 * Finds the daemon of this home, even when the user opted out of using one; undefined when none is running.
 * Fails as `findDaemon()` does.
 */
export async function findRunningDaemon(host: Host, signal: AbortSignal): Promise<FoundDaemon | undefined> {
  return await findDaemon(toDaemonTarget(host), signal)
}

/** Returns the home and the user whose daemon the commands are about. */
export function toDaemonTarget(host: Host): DaemonTarget {
  return { paths: resolvePaths(host), env: host.env, uid: host.uid }
}

/** Does the same as `findRunningDaemon()`, but throws `missing` when none is running. */
export async function requireRunning(host: Host, what: string, signal: AbortSignal): Promise<FoundDaemon> {
  const found = await findRunningDaemon(host, signal)
  if (found) return found
  throw notRunning(host, what)
}

/** Returns the error of a command that needs a running daemon when there is none. */
export function notRunning(host: Host, what: string): CrabError {
  return new CrabError('missing', `Cannot ${what}: no daemon is running for ${resolvePaths(host).home}`, {
    hint: 'start one with crabup daemon start, or crabtalk daemon run',
  })
}
