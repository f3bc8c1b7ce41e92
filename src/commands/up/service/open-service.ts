import type { HomePaths } from '../../../core/config/paths.ts'
import { chooseManager } from '../../../up/choose-manager.ts'
import { upHostOf } from '../../../up/host.ts'
import { labelOf } from '../../../up/names.ts'
import type { ProbeService } from '../../../up/probe.ts'
import { findService, type Service, type SpecPlace, servicesOf, toSpec } from '../../../up/service-spec.ts'
import type { ServiceManager, ServiceSpec, ServiceStatus } from '../../../up/types.ts'
import type { Host } from '../../host.ts'
import { serviceProbe } from '../probe/probe.ts'
import { specPlace } from './place.ts'

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
  host: Host
}

/** The service of that name, and what keeps it running. Fails with `no-service`, and as chooseManager(). */
export async function openService(host: Host, name: string, signal: AbortSignal): Promise<OpenService> {
  const place = await specPlace(host)
  const { paths } = place
  const service = findService(paths, name)
  const manager = await chooseManager(upHostOf(host), place, signal)
  const probe = serviceProbe({ paths, env: host.env, uid: host.uid })
  const label = labelOf(name, { home: paths.home, usualHome: place.usualHome })
  const known = toSpec(service, { ...place, node: place.node ?? 'node' })
  return { service, spec: () => toSpec(service, place), known, label, manager, probe, paths, place, host }
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
