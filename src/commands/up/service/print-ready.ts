import type { Host } from '../../../cli/host.ts'
import type { LogPosition } from '../../../up/logs/last-lines.ts'
import type { Probe } from '../../../up/probe/types.ts'
import { MANAGER_NAMES, managerNote } from '../../../up/services/manager-text.ts'
import { fetchStatus, type OpenService } from '../../../up/services/open-service.ts'
import { NotReadyError, waitReady } from '../../../up/services/ready.ts'
import type { ServiceStatus } from '../../../up/types.ts'

/** The notice to print once a service is ready. */
export interface ReadyNotice {
  /** Returns the predicate of the line, as in `daemon is ready`, for the current status. */
  word(after: ServiceStatus): string
  /** The end of its logs before the action. */
  since: LogPosition
  /** Whether it was never a service on this machine before; the line then explains what keeps it running. */
  isFirst: boolean
}

/**
 * Waits until a service is ready, prints a line, and returns its status. For a service that does not become
 * ready, prints its last log lines. Throws like waitReady().
 */
export async function printReady(
  handle: OpenService<Host>,
  { word, since, isFirst }: ReadyNotice,
  signal: AbortSignal,
): Promise<ServiceStatus> {
  const { host, service, manager } = handle
  try {
    const probe = await waitReady(handle, since, signal)
    const after = await fetchStatus(handle, signal)
    const atLogin =
      isFirst && after.isEnabled && manager.kind !== 'supervisor' ? ', which starts it at login' : ''
    const managerText = `kept running by ${MANAGER_NAMES[manager.kind]}${atLogin}${isFirst ? managerNote(manager) : ''}`
    host.stdout.write(`${service.name} ${word(after)}${formatProbe(probe)}, ${managerText}\n`)
    return after
  } catch (reason) {
    if (reason instanceof NotReadyError && reason.lines.length > 0) {
      host.stderr.write(`${reason.lines.map((line) => `  ${line}`).join('\n')}\n`)
    }
    throw reason
  }
}

/** Reports the directories that a restarted service keeps on its PATH although this shell lacks them. */
export function printRetainedPath({ host, service: { name }, retainedPath }: OpenService<Host>): void {
  if (retainedPath.length === 0) return
  host.stderr.write(
    `crabup: its PATH keeps ${retainedPath.join(', ')}, which this shell does not have; to use the PATH of this shell, run crabup ${name} stop and then start\n`,
  )
}

/** Formats the known facts, such as ` (pid 7, 0.1.0, port 4711)`. */
function formatProbe({ pid, version, port }: Probe): string {
  const facts = [
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(version === undefined ? [] : [version]),
    ...(port === undefined ? [] : [`port ${port}`]),
  ]
  return facts.length > 0 ? ` (${facts.join(', ')})` : ''
}
