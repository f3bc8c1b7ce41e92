import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { findProblems } from '../../core/config/find-problems.ts'
import { isLingering, LINGER_COMMAND } from '../managers/linger.ts'
import { parseServiceLabel } from '../names.ts'
import { diskNotes } from '../ps/disk-notes.ts'
import { gatherRows, type ServiceRow } from '../ps/gather.ts'
import type { ServiceNote } from '../ps/notes.ts'
import { missingFileNotes, readUnitFacts, type UnitFacts } from '../ps/unit-facts.ts'
import { servicesFolder } from '../supervisor/desired-state.ts'
import type { ManagerKind, ServiceSpec } from '../types.ts'
import { MANAGER_NAMES } from './manager-text.ts'
import { findService, toSpec } from './service-spec.ts'
import { listServiceQueries, type ServicesContext } from './services-context.ts'

/** The state of all services at one moment. */
export interface ServicesSnapshot {
  at: number
  manager: { kind: ManagerKind; note: string | undefined }
  rows: readonly ServiceRow[]
  /** Notes that concern no single service. */
  notes: readonly ServiceNote[]
}

/** Collects the state of all services of a home; stale files are removed unless `keepsStale` is set. */
export async function collectServices(
  context: ServicesContext,
  signal: AbortSignal,
  { keepsStale = false, withDisk = true }: { keepsStale?: boolean; withDisk?: boolean } = {},
): Promise<ServicesSnapshot> {
  const { manager, probe, paths, host } = context
  const queries = await listServiceQueries(context, signal)
  const unitNotes = async (name: string) => {
    const facts = await fetchUnitFacts(context, name)
    return facts ? await missingFileNotes(name, facts) : []
  }
  const ports = { manager, probe, findProblems: () => findProblems(paths), now: () => host.now() }
  const { rows, problem } = await gatherRows(queries, { ...ports, unitNotes, keepsStale }, signal)
  if (signal.aborted) throw new CrabError('cancelled', 'Cancelled')
  const failure = problem === undefined ? [] : [toNote(toCrabError(problem))]
  const notes = [
    ...failure,
    ...(withDisk ? await diskNotes(paths) : []),
    ...(await managerNotes(context, rows, signal)),
  ]
  return { at: host.now(), manager: { kind: manager.kind, note: manager.note }, rows, notes }
}

/** Reads the unit of a service; undefined when it has no unit or does not exist. */
export async function fetchUnitFacts(context: ServicesContext, name: string): Promise<UnitFacts | undefined> {
  const spec = findSpec(context, name)
  const at = { manager: context.manager, folder: servicesFolder(context.paths) }
  return spec && (await readUnitFacts(spec, at))
}

/** Builds the spec with which this shell would start the service; undefined when it is no longer installed. */
export function findSpec({ specs }: ServicesContext, name: string): ServiceSpec | undefined {
  try {
    return toSpec(findService(specs.paths, name), { ...specs, node: specs.node ?? 'node' })
  } catch {
    return undefined
  }
}

function toNote({ message, hint }: CrabError): ServiceNote {
  return { message, ...(hint !== undefined && { hint }) }
}

/** Collects notes on the service manager that concern all services of a home. */
async function managerNotes(
  { manager, labels }: ServicesContext,
  rows: readonly ServiceRow[],
  signal: AbortSignal,
): Promise<ServiceNote[]> {
  if (!rows.some(({ isInstalled }) => isInstalled)) return []
  return [
    ...(manager.note === undefined
      ? []
      : [{ message: `${MANAGER_NAMES[manager.kind]} runs the services: ${manager.note}` }]),
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
