import type { Host } from '../../../cli/host.ts'
import { VERSION } from '../../../core/base/version.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { chooseManager } from '../../../up/choose-manager.ts'
import { toUpHost } from '../../../up/host.ts'
import { type LabelContext, parseServiceLabel, toServiceLabel } from '../../../up/names.ts'
import { listAnnouncedNames } from '../../../up/probe/announced-names.ts'
import type { ProbeService } from '../../../up/probe/types.ts'
import type { ServiceQuery } from '../../../up/ps/gather.ts'
import { listServices, type SpecContext } from '../../../up/service-spec.ts'
import type { ServiceManager, UpHost } from '../../../up/types.ts'
import { homeProbe } from '../probe/home-probe.ts'
import { buildSpecContext } from '../service/spec-context.ts'

/** The context for inspecting the services of a home. */
export interface ServicesContext {
  paths: HomePaths
  labels: LabelContext
  /** The context for specs that this shell would write. */
  specs: SpecContext
  host: UpHost
  manager: ServiceManager
  probe: ProbeService
}

/** Opens the context for the home of a command. Throws like chooseManager(). */
export async function openServicesContext(host: Host, signal: AbortSignal): Promise<ServicesContext> {
  const specs = await buildSpecContext(host)
  const { paths, usualHome } = specs
  const upHost = toUpHost(host)
  const manager = await chooseManager(upHost, specs, signal)
  const probe = homeProbe({ paths, env: host.env, uid: host.uid })
  return { paths, specs, labels: { home: paths.home, usualHome }, host: upHost, manager, probe }
}

/**
 * Lists every service of the home: existing ones, ones of which only a unit is left, and ones that announce
 * themselves in run/.
 */
export async function listServiceQueries(
  place: ServicesContext,
  signal: AbortSignal,
): Promise<ServiceQuery[]> {
  const { paths, labels, manager } = place
  const known = listServices(paths).map(({ name, version = VERSION }) => ({ name, version }))
  const [units, announced] = await Promise.all([
    listUnitNames({ manager, labels }, signal).catch((): string[] => []), // the status query reports the error
    listAnnouncedNames(paths),
  ])
  const isKnown = (name: string) => known.some((one) => one.name === name)
  const left = units.filter((name) => !isKnown(name)).map((name) => ({ name, oddity: ORPHANED }))
  const others = announced.filter((name) => !isKnown(name) && !units.includes(name)).map((name) => ({ name }))
  return [...known, ...left, ...others].map((one) => ({ ...one, label: toServiceLabel(one.name, labels) }))
}

/** Lists the services of this home that have a unit at the service manager. Throws like the manager's verbs. */
export async function listUnitNames(
  { manager, labels: place }: Pick<ServicesContext, 'manager' | 'labels'>,
  signal: AbortSignal,
): Promise<string[]> {
  const labels = await manager.labels(signal)
  return labels.flatMap((label) => parseServiceLabel(label, place) ?? []).toSorted()
}

const ORPHANED = 'the component is not installed'
