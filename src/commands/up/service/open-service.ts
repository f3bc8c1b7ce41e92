import type { HomePaths } from '../../../core/config/paths.ts'
import { chooseManager } from '../../../up/choose-manager.ts'
import { toUpHost } from '../../../up/host.ts'
import { toServiceLabel } from '../../../up/names.ts'
import { withOwnEnv } from '../../../up/own-env.ts'
import type { ProbeService } from '../../../up/probe.ts'
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
import type { Host } from '../../host.ts'
import { serviceProbe } from '../probe/probe.ts'
import { buildSpecContext, mergeUnitPath } from './spec-context.ts'

/** A service, and all it takes to do something with it. */
export interface OpenService {
  service: Service
  /** With what is found in this shell. Fails as specOf(). */
  spec(): ServiceSpec
  /** To end it by; what it needs to run may be missing. */
  stopSpec: ServiceSpec
  label: string
  manager: ServiceManager
  probe: ProbeService
  paths: HomePaths
  place: SpecContext
  /** Directories on its PATH that this shell does not have; they stay while it runs. */
  keptPath: readonly string[]
  host: Host
}

/** The service of that name, and what keeps it running. Fails with `no-service`, and as chooseManager(). */
export async function openService(host: Host, name: string, signal: AbortSignal): Promise<OpenService> {
  const shell = await buildSpecContext(host)
  const { paths } = shell
  const service = findService(paths, name)
  const manager = withOwnEnv(await chooseManager(toUpHost(host), shell, signal))
  const probe = serviceProbe({ paths, env: host.env, uid: host.uid })
  const label = toServiceLabel(name, { home: paths.home, usualHome: shell.usualHome })
  const { place, keptPath } = await withRunningPath({ host, service, shell, manager }, signal)
  const known = toStopSpec(service, place)
  const spec = () => toSpec(service, place)
  return { service, spec, stopSpec: known, label, manager, probe, paths, place, keptPath, host }
}

function toStopSpec(service: Service, place: SpecContext): ServiceSpec {
  return toSpec(service, { ...place, node: place.node ?? 'node' })
}

/** The place with the PATH that a service has which runs, where this shell's has only less of the same. */
async function withRunningPath(
  {
    host,
    service,
    shell,
    manager,
  }: Pick<OpenService, 'host' | 'service' | 'manager'> & { shell: SpecContext },
  signal: AbortSignal,
): Promise<{ place: SpecContext; keptPath: readonly string[] }> {
  const spec = toStopSpec(service, shell)
  const folder = servicesFolder(shell.paths)
  const facts = await readUnitFacts(spec, { manager, folder }).catch(() => undefined) // who writes a unit says what is wrong
  const { place, kept } = mergeUnitPath(shell, facts?.path, host)
  const isNeeded = kept.length > 0 && isKept(await fetchStatus({ manager, label: spec.label }, signal))
  return isNeeded ? { place, keptPath: kept } : { place: shell, keptPath: [] }
}

/** The label of a service that is not there any more and of which a unit is left, and who has it; undefined where none is left. */
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

/** What the service manager says of it. */
export async function fetchStatus(
  { manager, label }: Pick<OpenService, 'manager' | 'label'>,
  signal: AbortSignal,
): Promise<ServiceStatus> {
  const [status] = await manager.status([label], signal)
  return status ?? { label, isInstalled: false, isEnabled: false, state: 'stopped' }
}

/** Whether the service manager keeps it running, or tries to. */
export function isKept({ state }: ServiceStatus): boolean {
  return state !== 'stopped' && state !== 'failed'
}

/** Whether its service manager keeps a service running, or tries to. */
export async function isServiceRunning(host: Host, name: string, signal: AbortSignal): Promise<boolean> {
  return isKept(await fetchStatus(await openService(host, name, signal), signal))
}
