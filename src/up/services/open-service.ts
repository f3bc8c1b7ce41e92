import { isDeepStrictEqual } from 'node:util'
import type { HomePaths } from '../../core/config/paths.ts'
import { chooseManager } from '../choose-manager.ts'
import { type ShellHost, toUpHost } from '../host.ts'
import { toServiceLabel } from '../names.ts'
import { withOwnEnv } from '../own-env.ts'
import type { ProbeService } from '../probe/types.ts'
import { readUnitFacts } from '../ps/unit-facts.ts'
import { desiredFile, servicesFolder } from '../supervisor/desired-state.ts'
import { listSpecs } from '../supervisor/verbs.ts'
import type { ServiceManager, ServiceSpec, ServiceStatus, UnitFile } from '../types.ts'
import { type UnitChange, unitChange } from '../units/unit-change.ts'
import { homeProbe } from './home-probe.ts'
import { findService, listServices, type Service, type SpecContext, toSpec } from './service-spec.ts'
import { buildSpecContext, mergeUnitPath } from './spec-context.ts'

export { truncateOutput } from '../supervisor/start-run.ts'

/** A service, and everything needed to act on it. */
export interface OpenService<H extends ShellHost = ShellHost> {
  service: Service
  /** Builds the spec from the environment of this shell. Throws like toSpec(). */
  spec(): ServiceSpec
  /** A spec that suffices to stop the service, even when something it needs to run is missing. */
  stopSpec: ServiceSpec
  label: string
  manager: ServiceManager
  probe: ProbeService
  paths: HomePaths
  context: SpecContext
  /** Directories on its PATH that this shell lacks; they are kept while it runs. */
  retainedPath: readonly string[]
  host: H
}

/** Opens the service of that name with its service manager. Throws `no-service`, and like chooseManager(). */
export async function openService<H extends ShellHost>(
  host: H,
  name: string,
  signal: AbortSignal,
): Promise<OpenService<H>> {
  const shell = await buildSpecContext(host)
  const { paths } = shell
  const service = findService(paths, name)
  const manager = withOwnEnv(await chooseManager(toUpHost(host), shell, signal))
  const probe = homeProbe({ paths, env: host.env, uid: host.uid })
  const label = toServiceLabel(name, { home: paths.home, usualHome: shell.usualHome })
  const { context, retainedPath } = await withRunningPath({ host, service, shell, manager }, signal)
  const stopSpec = toStopSpec(service, context)
  const spec = () => toSpec(service, context)
  return { service, spec, stopSpec, label, manager, probe, paths, context, retainedPath, host }
}

function toStopSpec(service: Service, context: SpecContext): ServiceSpec {
  return toSpec(service, { ...context, node: context.node ?? 'node' })
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
): Promise<{ context: SpecContext; retainedPath: readonly string[] }> {
  const spec = toStopSpec(service, shell)
  const folder = servicesFolder(shell.paths)
  // A failure is ignored here: writing the unit reports it.
  const facts = await readUnitFacts(spec, { manager, folder }).catch(() => undefined)
  const { context, retained } = mergeUnitPath(shell, facts?.path, host)
  const isNeeded = retained.length > 0 && isActive(await fetchStatus({ manager, label: spec.label }, signal))
  return isNeeded ? { context, retainedPath: retained } : { context: shell, retainedPath: [] }
}

/** Finds the unit of a service that no longer exists, and its manager; undefined when there is none. */
export async function findOrphanedUnit(
  host: ShellHost,
  name: string,
  signal: AbortSignal,
): Promise<{ manager: ServiceManager; label: string } | undefined> {
  const context = await buildSpecContext(host)
  if (listServices(context.paths).some((service) => service.name === name)) return undefined
  const manager = await chooseManager(toUpHost(host), context, signal)
  const label = toServiceLabel(name, { home: context.paths.home, usualHome: context.usualHome })
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

/** Whether a status says that the service manager runs the service, or is trying to. */
export function isActive({ state }: ServiceStatus): boolean {
  return state !== 'stopped' && state !== 'failed'
}

/** Queries whether a service is running or starting. Throws like openService(). */
export async function isServiceRunning(host: ShellHost, name: string, signal: AbortSignal): Promise<boolean> {
  return isActive(await fetchStatus(await openService(host, name, signal), signal))
}

/** Returns the file that starting the service would write: its unit, or the supervisor's file of desired services. */
export function planUnit({ manager, paths }: OpenService, spec: ServiceSpec): UnitFile {
  return manager.unit(spec) ?? desiredFile(servicesFolder(paths), spec)
}

/**
 * Finds what writing the unit of a service would change; undefined for crabup's own supervisor, whose files are not
 * meant to be edited. Throws `storage`.
 */
export async function findUnitChange(
  { manager }: OpenService,
  spec: ServiceSpec,
): Promise<({ path: string } & UnitChange) | undefined> {
  const unit = manager.kind === 'supervisor' ? undefined : manager.unit(spec)
  return unit && { path: unit.path, ...(await unitChange(unit)) }
}

/** Whether crabup's own supervisor, which has no units, runs the service with another command or environment. */
export function hasOtherSpec({ manager, paths }: OpenService, { name, argv, env }: ServiceSpec): boolean {
  if (manager.kind !== 'supervisor') return false
  const known = listSpecs(servicesFolder(paths)).find((one) => one.name === name)
  return known !== undefined && !isDeepStrictEqual([known.argv, known.env], [argv, env])
}
