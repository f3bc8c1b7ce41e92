import type { HomePaths } from '../../../core/config/paths.ts'
import { chooseManager } from '../../../up/choose-manager.ts'
import { upHostOf } from '../../../up/host.ts'
import { labelOf } from '../../../up/names.ts'
import { withOwnEnv } from '../../../up/own-env.ts'
import type { ProbeService } from '../../../up/probe.ts'
import { readUnitFacts } from '../../../up/ps/unit-facts.ts'
import { findService, type Service, type SpecPlace, servicesOf, toSpec } from '../../../up/service-spec.ts'
import { servicesFolder } from '../../../up/supervisor/wanted.ts'
import type { ServiceManager, ServiceSpec, ServiceStatus } from '../../../up/types.ts'
import type { Host } from '../../host.ts'
import { serviceProbe } from '../probe/probe.ts'
import { specPlace, withPathOf } from './place.ts'

/** A service, and all it takes to do something with it. */
export interface OpenService {
  service: Service
  /** With what is found in this shell. Fails as specOf(). */
  spec(): ServiceSpec
  /** To end it by; what it needs to run may be missing. */
  known: ServiceSpec
  label: string
  manager: ServiceManager
  probe: ProbeService
  paths: HomePaths
  place: SpecPlace
  /** Directories on its PATH that this shell does not have; they stay while it runs. */
  keptPath: readonly string[]
  host: Host
}

/** The service of that name, and what keeps it running. Fails with `no-service`, and as chooseManager(). */
export async function openService(host: Host, name: string, signal: AbortSignal): Promise<OpenService> {
  const shell = await specPlace(host)
  const { paths } = shell
  const service = findService(paths, name)
  const manager = withOwnEnv(await chooseManager(upHostOf(host), shell, signal))
  const probe = serviceProbe({ paths, env: host.env, uid: host.uid })
  const label = labelOf(name, { home: paths.home, usualHome: shell.usualHome })
  const { place, keptPath } = await ofRunning({ host, service, shell, manager }, signal)
  const known = specToEnd(service, place)
  const spec = () => toSpec(service, place)
  return { service, spec, known, label, manager, probe, paths, place, keptPath, host }
}

function specToEnd(service: Service, place: SpecPlace): ServiceSpec {
  return toSpec(service, { ...place, node: place.node ?? 'node' })
}

/** The place with the PATH that a service has which runs, where this shell's has only less of the same. */
async function ofRunning(
  { host, service, shell, manager }: Pick<OpenService, 'host' | 'service' | 'manager'> & { shell: SpecPlace },
  signal: AbortSignal,
): Promise<{ place: SpecPlace; keptPath: readonly string[] }> {
  const spec = specToEnd(service, shell)
  const folder = servicesFolder(shell.paths)
  const facts = await readUnitFacts(spec, { manager, folder }).catch(() => undefined) // who writes a unit says what is wrong
  const { place, kept } = withPathOf(shell, facts?.path, host)
  const isNeeded = kept.length > 0 && isKept(await statusOf({ manager, label: spec.label }, signal))
  return isNeeded ? { place, keptPath: kept } : { place: shell, keptPath: [] }
}

/** The label of a service that is not there any more and of which a unit is left, and who has it; undefined where none is left. */
export async function leftUnit(
  host: Host,
  name: string,
  signal: AbortSignal,
): Promise<{ manager: ServiceManager; label: string } | undefined> {
  const place = await specPlace(host)
  if (servicesOf(place.paths).some((service) => service.name === name)) return undefined
  const manager = await chooseManager(upHostOf(host), place, signal)
  const label = labelOf(name, { home: place.paths.home, usualHome: place.usualHome })
  return (await manager.labels(signal)).includes(label) ? { manager, label } : undefined
}

/** What the service manager says of it. */
export async function statusOf(
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
  return isKept(await statusOf(await openService(host, name, signal), signal))
}
