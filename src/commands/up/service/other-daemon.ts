import type { Host } from '../../../cli/host.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { readUser } from '../../../core/process/proc-files.ts'
import { endDaemon } from '../../../daemon/serve/end-daemon.ts'
import type { OpenService } from '../../../up/services/open-service.ts'
import { fetchStatus, isActive } from '../../../up/services/open-service.ts'
import { toDaemonTarget } from '../../daemon/running.ts'
import { waitForTurns } from './turns.ts'

/**
 * Ends a daemon that a command started on demand, after its turns have ended, so that the service can take
 * its place. Throws `conflict` for a daemon that the user runs, which is the user's to end.
 */
export async function replaceOnDemandDaemon(
  handle: OpenService<Host>,
  { now }: { now: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (!(await hasOther(handle, signal))) return
  await waitForTurns(handle.host, { verb: 'replace', now }, signal)
  await endDaemon(toDaemonTarget(handle.host), signal)
}

/**
 * Whether a daemon that a command started on demand is running; throws `conflict` for any other daemon
 * outside the service.
 */
export async function hasOther(handle: OpenService<Host>, signal: AbortSignal): Promise<boolean> {
  if (handle.service.name !== 'daemon' || isActive(await fetchStatus(handle, signal))) return false
  const { answers, pid, idleExitMs, isForeign, problem } = await handle.probe('daemon', signal)
  if (isForeign) throw foreignDaemonError(problem)
  if (answers && idleExitMs === undefined) throw await manualDaemonError(pid, handle.host)
  return answers
}

async function manualDaemonError(pid: number | undefined, host: Pick<Host, 'uid'>): Promise<CrabError> {
  const who = pid === undefined ? 'one' : `process ${pid}`
  const hint = await endHint('daemon', pid, host)
  return new CrabError(
    'conflict',
    `Cannot start daemon as a service: ${who} is already running, started by hand`,
    {
      hint: `${hint}, and start the service again`,
    },
  )
}

/**
 * Explains how to end a process that runs by hand. A process of another user, which root may find in that
 * user's home, may be a service of that user.
 */
export async function endHint(
  name: string,
  pid: number | undefined,
  { uid }: Pick<Host, 'uid'>,
): Promise<string> {
  const owner = pid === undefined ? undefined : await readUser('/proc', pid)
  if (owner !== undefined && owner !== uid) return `it belongs to the user ${owner}: run crabup as that user`
  return name === 'daemon' ? 'end it with crabtalk daemon stop' : 'end it with Ctrl+C in its terminal'
}

function foreignDaemonError(problem = 'something else answers in its place'): CrabError {
  return new CrabError('conflict', `Cannot start daemon as a service: ${problem}`, {
    hint: 'crabup ps shows more',
  })
}
