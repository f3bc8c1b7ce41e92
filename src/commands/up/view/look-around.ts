import { CrabError, toCrabError } from '../../../core/base/errors.ts'
import { findProblems } from '../../../core/config/describe.ts'
import { diskNotes } from '../../../up/ps/disk-notes.ts'
import { gatherRows, type ServiceRow } from '../../../up/ps/gather.ts'
import type { Note } from '../../../up/ps/notes.ts'
import { goneNotes, readUnitFacts, type UnitFacts } from '../../../up/ps/unit-facts.ts'
import { findService, toSpec } from '../../../up/service-spec.ts'
import { servicesFolder } from '../../../up/supervisor/wanted.ts'
import type { ManagerKind, ServiceSpec } from '../../../up/types.ts'
import { managerNotes } from './manager-notes.ts'
import { soughtServices, type ViewPlace } from './place.ts'

/** How all services stood at one moment. */
export interface Seen {
  at: number
  manager: { kind: ManagerKind; note: string | undefined }
  rows: readonly ServiceRow[]
  /** What concerns no single service. */
  notes: readonly Note[]
}

/** Looks at all services of a home; files that were left behind are removed, unless they are to be kept. */
export async function lookAround(
  place: ViewPlace,
  signal: AbortSignal,
  { keepsStale = false, withDisk = true }: { keepsStale?: boolean; withDisk?: boolean } = {},
): Promise<Seen> {
  const { manager, probe, paths, host } = place
  const sought = await soughtServices(place, signal)
  const unitNotes = async (name: string) => {
    const facts = await unitFactsOf(place, name)
    return facts ? await goneNotes(name, facts) : []
  }
  const ports = { manager, probe, findProblems: () => findProblems(paths), now: () => host.now() }
  const { rows, problem } = await gatherRows(sought, { ...ports, unitNotes, keepsStale }, signal)
  if (signal.aborted) throw new CrabError('cancelled', 'Cancelled')
  const failure = problem === undefined ? [] : [toNote(toCrabError(problem))]
  const notes = [
    ...failure,
    ...(withDisk ? await diskNotes(paths) : []),
    ...(await managerNotes(place, rows, signal)),
  ]
  return { at: host.now(), manager: { kind: manager.kind, note: manager.note }, rows, notes }
}

/** What the unit of a service says; undefined for one that has none, or is none. */
export async function unitFactsOf(place: ViewPlace, name: string): Promise<UnitFacts | undefined> {
  const spec = wantedSpec(place, name)
  const at = { manager: place.manager, folder: servicesFolder(place.paths) }
  return spec && (await readUnitFacts(spec, at))
}

/** The service as it would be started by this shell; undefined for one that is not installed any more. */
export function wantedSpec({ specs }: ViewPlace, name: string): ServiceSpec | undefined {
  try {
    return toSpec(findService(specs.paths, name), { ...specs, node: specs.node ?? 'node' })
  } catch {
    return undefined
  }
}

function toNote({ message, hint }: CrabError): Note {
  return { message, ...(hint !== undefined && { hint }) }
}
