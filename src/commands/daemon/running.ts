import { CrabError } from '../../core/base/errors.ts'
import { type FoundDaemon, findDaemon } from '../../daemon/find-daemon.ts'
import type { Host } from '../host.ts'
import { resolvePaths } from '../paths.ts'

/** The daemon of this home, also where a person wants none to be used; undefined when none runs. Fails as findDaemon(). */
export async function findRunningDaemon(host: Host, signal: AbortSignal): Promise<FoundDaemon | undefined> {
  return await findDaemon({ paths: resolvePaths(host), env: host.env, uid: host.uid }, signal)
}

/** As findRunningDaemon(); `missing` when none runs. */
export async function requireRunning(host: Host, what: string, signal: AbortSignal): Promise<FoundDaemon> {
  const found = await findRunningDaemon(host, signal)
  if (found) return found
  throw notRunning(host, what)
}

export function notRunning(host: Host, what: string): CrabError {
  return new CrabError('missing', `Cannot ${what}: no daemon runs for ${resolvePaths(host).home}`, {
    hint: 'start one with `crabtalk daemon run`',
  })
}
