import { CrabError } from '../../core/base/errors.ts'
import { type FoundDaemon, findDaemon } from '../../daemon/find-daemon.ts'
import type { Host } from '../host.ts'
import { pathsOf } from '../paths.ts'

/** The daemon of this home, also where a person wants none to be used; undefined when none runs. Fails as findDaemon(). */
export async function runningDaemon(host: Host, signal: AbortSignal): Promise<FoundDaemon | undefined> {
  return await findDaemon({ paths: pathsOf(host), env: host.env, uid: host.uid }, signal)
}

/** As runningDaemon(); `missing` when none runs. */
export async function requireRunning(host: Host, what: string, signal: AbortSignal): Promise<FoundDaemon> {
  const found = await runningDaemon(host, signal)
  if (found) return found
  throw noneRuns(host, what)
}

export function noneRuns(host: Host, what: string): CrabError {
  return new CrabError('missing', `Cannot ${what}: no daemon runs for ${pathsOf(host).home}`, {
    hint: 'start one with `crabtalk daemon run`',
  })
}
