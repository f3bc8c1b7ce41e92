import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../../core/base/version.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { readIdentity } from '../../core/process/service-process.ts'
import { chooseManager } from '../choose-manager.ts'
import { type ShellHost, toUpHost } from '../host.ts'
import { type LabelContext, parseServiceLabel, toServiceLabel } from '../names.ts'
import { listAnnouncedNames } from '../probe/announced-names.ts'
import type { ProbeService } from '../probe/types.ts'
import type { ServiceQuery } from '../ps/gather.ts'
import { servicesFolder } from '../supervisor/desired-state.ts'
import { findSupervisor, type SupervisorOwner } from '../supervisor/record.ts'
import type { ServiceManager, UpHost } from '../types.ts'
import { homeProbe } from './home-probe.ts'
import { listServices, type SpecContext } from './service-spec.ts'
import { buildSpecContext } from './spec-context.ts'

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
export async function openServicesContext(host: ShellHost, signal: AbortSignal): Promise<ServicesContext> {
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
  context: ServicesContext,
  signal: AbortSignal,
): Promise<ServiceQuery[]> {
  const { paths, labels, manager } = context
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
  { manager, labels: labelContext }: Pick<ServicesContext, 'manager' | 'labels'>,
  signal: AbortSignal,
): Promise<string[]> {
  const labels = await manager.labels(signal)
  return labels.flatMap((label) => parseServiceLabel(label, labelContext) ?? []).toSorted()
}

/** Returns the supervisor of a home, if one runs; `ended` resolves when it has exited, or after 10 s. */
export async function findHomeSupervisor(paths: HomePaths): Promise<{ ended(): Promise<void> } | undefined> {
  const supervisor = await findSupervisor(servicesFolder(paths))
  return supervisor && { ended: () => hasEnded(supervisor) }
}

/** Waits for a supervisor, which exits by itself when no service is desired any more. */
async function hasEnded({ pid, identity }: SupervisorOwner): Promise<void> {
  for (let left = WAIT_MS; left > 0 && (await readIdentity(pid)) === identity; left -= POLL_MS) {
    await sleep(POLL_MS)
  }
}

/** Removes the files of the supervisor; one that is exiting does not create them again. Never rejects. */
export async function removeServicesFolder(paths: HomePaths): Promise<void> {
  await rm(servicesFolder(paths), { recursive: true, force: true }).catch(() => undefined)
}

const WAIT_MS = 10_000
const POLL_MS = 20
const ORPHANED = 'the component is not installed'
