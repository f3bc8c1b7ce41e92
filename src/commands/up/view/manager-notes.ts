import { isLingering, LINGER_COMMAND } from '../../../up/managers/linger.ts'
import type { ServiceRow } from '../../../up/ps/gather.ts'
import { parseServiceLabel } from '../../../up/ps/labels.ts'
import type { ServiceNote } from '../../../up/ps/notes.ts'
import { MANAGER_NAMES } from '../service/print-ready.ts'
import type { ServicesContext } from './services-context.ts'

/** Collects notes on the service manager that concern all services of a home. */
export async function managerNotes(
  { manager, labels }: ServicesContext,
  rows: readonly ServiceRow[],
  signal: AbortSignal,
): Promise<ServiceNote[]> {
  if (!rows.some(({ isInstalled }) => isInstalled)) return []
  return [
    ...(manager.note === undefined
      ? []
      : [{ message: `${MANAGER_NAMES[manager.kind]} keeps services running: ${manager.note}` }]),
    ...(manager.kind === 'systemd' ? lingerNote() : []),
    ...(await otherHomes(manager, labels, signal)),
  ]
}

function lingerNote(): ServiceNote[] {
  if (isLingering()) return []
  const message = 'lingering is off: services end when you log out, and start when you log in'
  return [{ message, hint: LINGER_COMMAND }]
}

async function otherHomes(
  manager: ServicesContext['manager'],
  labels: ServicesContext['labels'],
  signal: AbortSignal,
): Promise<ServiceNote[]> {
  const all = await manager.labels(signal).catch(() => [])
  const others = all.filter((label) => parseServiceLabel(label, labels) === undefined)
  if (others.length === 0) return []
  const [first] = others
  const which =
    others.length === 1 ? `${first} is a service` : `${first} and ${others.length - 1} more are services`
  return [{ message: `${which} of another home` }]
}
