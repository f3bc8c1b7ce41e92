import type { Probe } from '../../../up/probe.ts'
import type { ManagerKind, ServiceManager, ServiceStatus } from '../../../up/types.ts'
import type { Host } from '../../host.ts'
import { NotReady } from './ready.ts'

/** What people call what keeps services running. */
export const MANAGER_NAMES: Readonly<Record<ManagerKind, string>> = {
  systemd: 'systemd',
  launchd: 'launchd',
  schtasks: 'the Task Scheduler',
  supervisor: "crabup's own supervisor",
}

/** `daemon is ready (pid 7, 0.1.0); systemd keeps it running, and starts it at login`. */
export function readyLine(
  name: string,
  probe: Probe,
  { manager, status, word = 'is ready' }: { manager: ServiceManager; status: ServiceStatus; word?: string },
): string {
  const facts = [
    ...(probe.pid === undefined ? [] : [`pid ${probe.pid}`]),
    ...(probe.version === undefined ? [] : [probe.version]),
    ...(probe.port === undefined ? [] : [`port ${probe.port}`]),
  ]
  const known = facts.length > 0 ? ` (${facts.join(', ')})` : ''
  const atLogin = status.isEnabled && manager.kind !== 'supervisor' ? ', and starts it at login' : ''
  return `${name} ${word}${known}; ${MANAGER_NAMES[manager.kind]} keeps it running${atLogin}${noteOf(manager)}`
}

/** What its manager has to say, behind what was said. */
export function noteOf({ kind, note }: Pick<ServiceManager, 'kind' | 'note'>): string {
  if (note === undefined) return ''
  return kind === 'supervisor' ? `: ${note}` : `; ${note}` // why it is that, or what else there is to know
}

/** Prints what a service that is not ready has written, and throws what it was thrown for. */
export function tellLines(host: Host, reason: unknown): never {
  if (reason instanceof NotReady && reason.lines.length > 0) {
    host.stderr.write(`${reason.lines.map((line) => `  ${line}`).join('\n')}\n`)
  }
  throw reason
}
