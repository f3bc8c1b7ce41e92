import type { ManagerKind, ServiceManager } from '../types.ts'

/** The display names of service managers. */
export const MANAGER_NAMES: Readonly<Record<ManagerKind, string>> = {
  systemd: 'systemd',
  launchd: 'launchd',
  schtasks: 'the Task Scheduler',
  supervisor: "crabup's own supervisor",
}

/** Formats the note of a service manager, to follow its name. */
export function managerNote({ kind, note }: Pick<ServiceManager, 'kind' | 'note'>): string {
  if (note === undefined) return ''
  // The supervisor's note is the reason for it; others are additional facts.
  return kind === 'supervisor' ? `: ${note}` : `; ${note}`
}
