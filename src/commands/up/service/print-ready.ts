import type { LogPosition } from '../../../up/control/last-lines.ts'
import type { Probe } from '../../../up/probe.ts'
import type { ManagerKind, ServiceManager, ServiceStatus } from '../../../up/types.ts'
import { fetchStatus, type OpenService } from './open-service.ts'
import { NotReadyError, waitReady } from './ready.ts'

/** What people call what keeps services running. */
export const MANAGER_NAMES: Readonly<Record<ManagerKind, string>> = {
  systemd: 'systemd',
  launchd: 'launchd',
  schtasks: 'the Task Scheduler',
  supervisor: "crabup's own supervisor",
}

/** What was done with a service that is to be ready now. */
export interface ReadyNotice {
  /** As in `daemon is ready`, by how it stands now. */
  word(after: ServiceStatus): string
  /** Where its logs ended before. */
  since: LogPosition
  /** It has never been a service here: what keeps it running is explained. */
  isFirst: boolean
}

/** Waits until a service is ready, says so in a line, and gives how it stands. One that is not has what it wrote printed. Fails as waitReady(). */
export async function printReady(
  at: OpenService,
  { word, since, isFirst }: ReadyNotice,
  signal: AbortSignal,
): Promise<ServiceStatus> {
  const { host, service, manager } = at
  try {
    const probe = await waitReady(at, since, signal)
    const after = await fetchStatus(at, signal)
    const atLogin =
      isFirst && after.isEnabled && manager.kind !== 'supervisor' ? ', which starts it at login' : ''
    const kept = `kept running by ${MANAGER_NAMES[manager.kind]}${atLogin}${isFirst ? managerNote(manager) : ''}`
    host.stdout.write(`${service.name} ${word(after)}${formatProbe(probe)}, ${kept}\n`)
    return after
  } catch (reason) {
    if (reason instanceof NotReadyError && reason.lines.length > 0) {
      host.stderr.write(`${reason.lines.map((line) => `  ${line}`).join('\n')}\n`)
    }
    throw reason
  }
}

/** Says what this shell would have taken from a service that is started again. */
export function printKeptPath({ host, service: { name }, keptPath }: OpenService): void {
  if (keptPath.length === 0) return
  host.stderr.write(
    `crabup: its PATH keeps ${keptPath.join(', ')}, which this shell does not have: crabup ${name} stop, and start, takes that of the shell\n`,
  )
}

/** ` (pid 7, 0.1.0, port 4711)`, as far as it is known. */
function formatProbe({ pid, version, port }: Probe): string {
  const facts = [
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(version === undefined ? [] : [version]),
    ...(port === undefined ? [] : [`port ${port}`]),
  ]
  return facts.length > 0 ? ` (${facts.join(', ')})` : ''
}

/** What a service manager has to say, behind its name. */
export function managerNote({ kind, note }: Pick<ServiceManager, 'kind' | 'note'>): string {
  if (note === undefined) return ''
  return kind === 'supervisor' ? `: ${note}` : `; ${note}` // why it is that, or what else there is to know
}
