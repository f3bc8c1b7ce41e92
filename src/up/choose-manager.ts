import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import { findSupervisor, isAlive, readRecord } from './supervisor/record.ts'
import { namesIn, servicesFolder } from './supervisor/wanted.ts'
import type { ManagerKind, ManagerPlace, ServiceManager, UpHost } from './types.ts'

export type { ManagerPlace } from './types.ts'

/** Opens a manager that answers here; undefined when it does not. */
type Open = (at: At, signal: AbortSignal) => Promise<ServiceManager | undefined>

interface At {
  host: UpHost
  place: ManagerPlace
  /** Why it was chosen, where that is not plain. */
  note?: string
}

/**
 * What keeps services running here: what CRABTALK_SERVICE_MANAGER names; where services of this home run under our own
 * supervisor already, that; else what the system has, and our own supervisor where it has nothing that answers. Fails
 * with `config` on a name that is none, `unavailable` when the named one does not answer.
 */
export async function chooseManager(
  host: UpHost,
  place: ManagerPlace,
  signal: AbortSignal,
): Promise<ServiceManager> {
  const at = { host, place }
  const named = namedIn(host)
  if (named) return await openNamed(named, at, signal)
  const system = await OPEN[SYSTEM[host.platform]](at, signal)
  if (system && !(await hasServices(at))) return system
  const note = system ? 'it has services of this home already' : whyNone(host)
  return await openSupervisor({ ...at, note: `${note}, so nothing starts at login` })
}

/** For tests, and for systems that look like something else than they are. */
function namedIn({ env }: UpHost): ManagerKind | undefined {
  const name = env['CRABTALK_SERVICE_MANAGER']
  if (name === undefined || name === '') return undefined
  const kinds = Object.keys(OPEN) as ManagerKind[]
  const kind = kinds.find((one) => one === name)
  if (kind) return kind
  throw new CrabError('config', `Cannot use ${name} to run services: CRABTALK_SERVICE_MANAGER names none`, {
    hint: `set it to one of ${kinds.join(', ')}, or unset it`,
  })
}

async function openNamed(kind: ManagerKind, at: At, signal: AbortSignal): Promise<ServiceManager> {
  const manager = await OPEN[kind]({ ...at, note: `CRABTALK_SERVICE_MANAGER is ${kind}` }, signal)
  if (manager) return manager
  throw new CrabError('unavailable', `Cannot use ${kind} to run services: it does not answer`, {
    hint: 'unset CRABTALK_SERVICE_MANAGER',
  })
}

/**
 * Whether services of this home run under our own supervisor, or have lost it: they are not run a second time by what
 * answers by now.
 */
async function hasServices({ host, place }: At): Promise<boolean> {
  const folder = servicesFolder(place.paths)
  const { wanted } = namesIn(folder)
  if (host.platform === 'win32' || wanted.length === 0) return false
  if (await findSupervisor(folder)) return true
  const runs = await Promise.all(wanted.map((name) => isAlive(readRecord(folder, name) ?? {})))
  return runs.includes(true)
}

function whyNone({ env, uid, platform }: UpHost): string {
  if (platform !== 'linux') return `${SYSTEM[platform]} does not answer`
  if (!existsSync('/run/systemd/system')) {
    return env['WSL_DISTRO_NAME'] ? 'WSL runs without systemd' : 'no systemd here'
  }
  const folder = env['XDG_RUNTIME_DIR'] || `/run/user/${uid}`
  return existsSync(join(folder, 'systemd'))
    ? 'systemd does not answer'
    : 'systemd has no session of this user'
}

const openSystemd: Open = async ({ host, place: { program }, note }, signal) => {
  const [{ findUnitFolder }, { SystemdManager }] = await Promise.all([
    import('./managers/systemd-place.ts'),
    import('./managers/systemd.ts'),
  ])
  const unitFolder = await findUnitFolder(host, signal)
  return unitFolder === undefined ? undefined : new SystemdManager(host, { unitFolder, note, program })
}

const openLaunchd: Open = async ({ host, place: { program }, note }, signal) => {
  const { findLaunchdDomain, LaunchdManager } = await import('./managers/launchd.ts')
  const domain = await findLaunchdDomain(host, signal)
  return domain && new LaunchdManager(host, { domain, note, program })
}

const openSchtasks: Open = async ({ host, place, note }) => {
  const [{ taskLoop }, { SchtasksManager }] = await Promise.all([
    import('./managers/supervisor-task.ts'),
    import('./managers/schtasks.ts'),
  ])
  return new SchtasksManager(host, { folder: servicesFolder(place.paths), loop: taskLoop(place), note })
}

async function openSupervisor({ host, place, note }: At): Promise<ServiceManager> {
  return (await import('./managers/supervisor.ts')).supervisorManager(host, place, note)
}

const OPEN: Readonly<Record<ManagerKind, Open>> = {
  systemd: openSystemd,
  launchd: openLaunchd,
  schtasks: openSchtasks,
  supervisor: openSupervisor,
}
const SYSTEM = { linux: 'systemd', darwin: 'launchd', win32: 'schtasks' } as const
