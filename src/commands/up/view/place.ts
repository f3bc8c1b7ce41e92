import { VERSION } from '../../../core/base/version.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { chooseManager } from '../../../up/choose-manager.ts'
import { upHostOf } from '../../../up/host.ts'
import { labelOf } from '../../../up/names.ts'
import type { ProbeService } from '../../../up/probe.ts'
import type { Sought } from '../../../up/ps/gather.ts'
import { type LabelPlace, nameOfLabel } from '../../../up/ps/labels.ts'
import { type SpecPlace, servicesOf } from '../../../up/service-spec.ts'
import type { ServiceManager, UpHost } from '../../../up/types.ts'
import type { Host } from '../../host.ts'
import { announcedNames } from '../probe/announced.ts'
import { serviceProbe } from '../probe/probe.ts'
import { specPlace } from '../service/place.ts'

/** What services of a home are looked at with. */
export interface ViewPlace {
  paths: HomePaths
  labels: LabelPlace
  /** What units say when they are written by this shell. */
  specs: SpecPlace
  host: UpHost
  manager: ServiceManager
  probe: ProbeService
}

/** Opens it for the home of a command. Fails as chooseManager() does. */
export async function openPlace(host: Host, signal: AbortSignal): Promise<ViewPlace> {
  const specs = await specPlace(host)
  const { paths, usualHome } = specs
  const upHost = upHostOf(host)
  const manager = await chooseManager(upHost, specs, signal)
  const probe = serviceProbe({ paths, env: host.env, uid: host.uid })
  return { paths, specs, labels: { home: paths.home, usualHome }, host: upHost, manager, probe }
}

/** Every service of the home: those there are, those that are left, and what announces itself in run/. */
export async function soughtServices(place: ViewPlace, signal: AbortSignal): Promise<Sought[]> {
  const { paths, labels, manager } = place
  const known = servicesOf(paths).map(({ name, version = VERSION }) => ({ name, version }))
  const [units, announced] = await Promise.all([
    unitNames({ manager, labels }, signal).catch((): string[] => []), // asking for their status says what is wrong
    announcedNames(paths),
  ])
  const isKnown = (name: string) => known.some((one) => one.name === name)
  const left = units.filter((name) => !isKnown(name)).map((name) => ({ name, oddity: ORPHANED }))
  const others = announced.filter((name) => !isKnown(name) && !units.includes(name)).map((name) => ({ name }))
  return [...known, ...left, ...others].map((one) => ({ ...one, label: labelOf(one.name, labels) }))
}

/** The services of this home that the service manager has units of. Fails as its verbs do. */
export async function unitNames(
  { manager, labels: place }: Pick<ViewPlace, 'manager' | 'labels'>,
  signal: AbortSignal,
): Promise<string[]> {
  const labels = await manager.labels(signal)
  return labels.flatMap((label) => nameOfLabel(label, place) ?? []).toSorted()
}

const ORPHANED = 'no such component is installed any more'
