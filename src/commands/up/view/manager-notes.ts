import { isLingering, LINGER_COMMAND } from '../../../up/managers/linger.ts'
import type { ServiceRow } from '../../../up/ps/gather.ts'
import { nameOfLabel } from '../../../up/ps/labels.ts'
import type { Note } from '../../../up/ps/notes.ts'
import { MANAGER_NAMES } from '../service/said.ts'
import type { ViewPlace } from './place.ts'

/** What the service manager does, or does not, for all services of a home. */
export async function managerNotes(
  { manager, labels }: ViewPlace,
  rows: readonly ServiceRow[],
  signal: AbortSignal,
): Promise<Note[]> {
  if (!rows.some(({ isInstalled }) => isInstalled)) return []
  return [
    ...(manager.note === undefined
      ? []
      : [{ message: `${MANAGER_NAMES[manager.kind]} keeps services running: ${manager.note}` }]),
    ...(manager.kind === 'systemd' ? lingerNote() : []),
    ...(await otherHomes(manager, labels, signal)),
  ]
}

function lingerNote(): Note[] {
  if (isLingering()) return []
  const message = 'lingering is off: services end when you log out, and start when you log in'
  return [{ message, hint: LINGER_COMMAND }]
}

async function otherHomes(
  manager: ViewPlace['manager'],
  labels: ViewPlace['labels'],
  signal: AbortSignal,
): Promise<Note[]> {
  const all = await manager.labels(signal).catch(() => [])
  const others = all.filter((label) => nameOfLabel(label, labels) === undefined)
  if (others.length === 0) return []
  const [first] = others
  const which =
    others.length === 1 ? `${first} is a service` : `${first} and ${others.length - 1} more are services`
  return [{ message: `${which} of another home` }]
}
