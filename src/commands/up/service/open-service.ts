import type { Host } from '../../../cli/host.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { chooseManager } from '../../../up/choose-manager.ts'
import { toUpHost } from '../../../up/host.ts'
import { toServiceLabel } from '../../../up/names.ts'
import { withOwnEnv } from '../../../up/own-env.ts'
import type { ProbeService } from '../../../up/probe/types.ts'
import { readUnitFacts } from '../../../up/ps/unit-facts.ts'
import {
  findService,
  listServices,
  type Service,
  type SpecContext,
  toSpec,
} from '../../../up/service-spec.ts'
import { servicesFolder } from '../../../up/supervisor/desired-state.ts'
import type { ServiceManager, ServiceSpec, ServiceStatus } from '../../../up/types.ts'
import { homeProbe } from '../probe/home-probe.ts'
import { buildSpecContext, mergeUnitPath } from './spec-context.ts'

/** A service, and everything needed to act on it. */
export interface OpenService {
  service: Service
  /** Builds the spec from the environment of this shell. Throws like toSpec(). */
  spec(): ServiceSpec
  /** A spec that suffices to stop the service, even when something it needs to run is missing. */
  stopSpec: ServiceSpec
  label: string
  manager: ServiceManager
  probe: ProbeService
  paths: HomePaths
  place: SpecContext
  /** Directories on its PATH that this shell lacks; they are kept while it runs. */
  retainedPath: readonly string[]
  host: Host
}

/** Opens the service of that name with its service manager. Throws `no-service`, and like chooseManager(). */
export async function openService(host: Host, name: string, signal: AbortSignal): Promise<OpenService> {
  const shell = await buildSpecContext(host)
  const { paths } = shell
  const service = findService(paths, name)
  const manager = withOwnEnv(await chooseManager(toUpHost(host), shell, signal))
  const probe = homeProbe({ paths, env: host.env, uid: host.uid })
  const label = toServiceLabel(name, { home: paths.home, usualHome: shell.usualHome })
  const { place, retainedPath } = await withRunningPath({ host, service, shell, manager }, signal)
  const known = toStopSpec(service, place)
  const spec = () => toSpec(service, place)
  return { service, spec, stopSpec: known, label, manager, probe, paths, place, retainedPath, host }
}

function toStopSpec(service: Service, place: SpecContext): ServiceSpec {
  return toSpec(service, { ...place, node: place.node ?? 'node' })
}

/** Returns the context with the PATH of the running service when this shell's PATH is only a subset of it. */
async function withRunningPath(
  {
    host,
    service,
    shell,
    manager,
  }: Pick<OpenService, 'host' | 'service' | 'manager'> & { shell: SpecContext },
  signal: AbortSignal,
): Promise<{ place: SpecContext; retainedPath: readonly string[] }> {
  const spec = toStopSpec(service, shell)
  const folder = servicesFolder(shell.paths)
  // A failure is ignored here: writing the unit reports it.
  const facts = await readUnitFacts(spec, { manager, folder }).catch(() => undefined)
  const { place, retained } = mergeUnitPath(shell, facts?.path, host)
  const isNeeded = retained.length > 0 && isActive(await fetchStatus({ manager, label: spec.label }, signal))
  return isNeeded ? { place, retainedPath: retained } : { place: shell, retainedPath: [] }
}

/** Finds the unit of a service that no longer exists, and its manager; undefined when there is none. */
export async function findOrphanedUnit(
  host: Host,
  name: string,
  signal: AbortSignal,
): Promise<{ manager: ServiceManager; label: string } | undefined> {
  const place = await buildSpecContext(host)
  if (listServices(place.paths).some((service) => service.name === name)) return undefined
  const manager = await chooseManager(toUpHost(host), place, signal)
  const label = toServiceLabel(name, { home: place.paths.home, usualHome: place.usualHome })
  return (await manager.labels(signal)).includes(label) ? { manager, label } : undefined
}

/** Queries the status from the service manager. */
export async function fetchStatus(
  { manager, label }: Pick<OpenService, 'manager' | 'label'>,
  signal: AbortSignal,
): Promise<ServiceStatus> {
  const [status] = await manager.status([label], signal)
  return status ?? { label, isInstalled: false, isEnabled: false, state: 'stopped' }
}

/** Whether the service manager keeps it running, or is trying to. */
export function isActive({ state }: ServiceStatus): boolean {
  return state !== 'stopped' && state !== 'failed'
}

/** Whether its service manager keeps a service running, or is trying to. */
export async function isServiceRunning(host: Host, name: string, signal: AbortSignal): Promise<boolean> {
  return isActive(await fetchStatus(await openService(host, name, signal), signal))
}
