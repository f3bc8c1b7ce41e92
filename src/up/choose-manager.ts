import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import { listServiceNames, servicesFolder } from './supervisor/desired-state.ts'
import { findSupervisor, isAlive, readRecord } from './supervisor/record.ts'
import type { ManagerContext, ManagerKind, ServiceManager, UpHost } from './types.ts'

/** Opens a manager; resolves to undefined when it does not answer. */
type Open = (at: ManagerRequest, signal: AbortSignal) => Promise<ServiceManager | undefined>

interface ManagerRequest {
  host: UpHost
  context: ManagerContext
  /** The reason for the choice, when it is not obvious. */
  note?: string
}

/**
 * Chooses what keeps services running on this machine: the manager that CRABTALK_SERVICE_MANAGER names;
 * crabup's own supervisor when it already runs services of this home; otherwise the system's manager, or
 * crabup's own supervisor when the system's does not answer. Throws `config` when the variable holds an
 * unknown name, and `unavailable` when the named manager does not answer.
 */
export async function chooseManager(
  host: UpHost,
  context: ManagerContext,
  signal: AbortSignal,
): Promise<ServiceManager> {
  const at = { host, context }
  const named = readForcedKind(host)
  if (named) return await openNamed(named, at, signal)
  const system = await OPEN[SYSTEM[host.platform]](at, signal)
  if (system && !(await hasServices(at))) return system
  const note = system ? 'it already runs services of this home' : explainNoManager(host)
  return await openSupervisor({ ...at, note: `${note}, so nothing starts at login` })
}

/** Reads the forced manager, for tests and for systems that look like something else than they are. */
function readForcedKind({ env }: UpHost): ManagerKind | undefined {
  const name = env['CRABTALK_SERVICE_MANAGER']
  if (name === undefined || name === '') return undefined
  const kinds = Object.keys(OPEN) as ManagerKind[]
  const kind = kinds.find((one) => one === name)
  if (kind) return kind
  throw new CrabError('config', `Cannot use ${name} to run services: it is not a known service manager`, {
    hint: `set CRABTALK_SERVICE_MANAGER to one of ${kinds.join(', ')}, or unset it`,
  })
}

async function openNamed(
  kind: ManagerKind,
  at: ManagerRequest,
  signal: AbortSignal,
): Promise<ServiceManager> {
  const manager = await OPEN[kind]({ ...at, note: `CRABTALK_SERVICE_MANAGER is ${kind}` }, signal)
  if (manager) return manager
  throw new CrabError('unavailable', `Cannot use ${kind} to run services: it does not answer`, {
    hint: 'unset CRABTALK_SERVICE_MANAGER',
  })
}

/**
 * Whether services of this home run under crabup's own supervisor, or are still alive after that supervisor
 * was killed. The system's manager must not start them a second time.
 */
async function hasServices({ host, context }: ManagerRequest): Promise<boolean> {
  const folder = servicesFolder(context.paths)
  const { desired } = listServiceNames(folder)
  if (host.platform === 'win32' || desired.length === 0) return false
  if (await findSupervisor(folder)) return true
  const runs = await Promise.all(desired.map((name) => isAlive(readRecord(folder, name) ?? {})))
  return runs.includes(true)
}

function explainNoManager({ env, uid, platform }: UpHost): string {
  if (platform !== 'linux') return `${SYSTEM[platform]} does not answer`
  if (!existsSync('/run/systemd/system')) {
    return env['WSL_DISTRO_NAME'] ? 'WSL runs without systemd' : 'no systemd here'
  }
  const folder = env['XDG_RUNTIME_DIR'] || `/run/user/${uid}`
  return existsSync(join(folder, 'systemd'))
    ? 'systemd does not answer'
    : 'systemd has no session for this user'
}

const openSystemd: Open = async ({ host, context: { program }, note }, signal) => {
  const [{ findUnitFolder }, { SystemdManager }] = await Promise.all([
    import('./managers/systemd-env.ts'),
    import('./managers/systemd.ts'),
  ])
  const unitFolder = await findUnitFolder(host, signal)
  return unitFolder === undefined ? undefined : new SystemdManager(host, { unitFolder, note, program })
}

const openLaunchd: Open = async ({ host, context: { program }, note }, signal) => {
  const { findLaunchdDomain, LaunchdManager } = await import('./managers/launchd.ts')
  const domain = await findLaunchdDomain(host, signal)
  return domain && new LaunchdManager(host, { domain, note, program })
}

const openSchtasks: Open = async ({ host, context, note }) => {
  const [{ taskLoop }, { SchtasksManager }] = await Promise.all([
    import('./managers/supervisor-task.ts'),
    import('./managers/schtasks.ts'),
  ])
  return new SchtasksManager(host, { folder: servicesFolder(context.paths), loop: taskLoop(context), note })
}

async function openSupervisor({ host, context, note }: ManagerRequest): Promise<ServiceManager> {
  return (await import('./managers/supervisor.ts')).supervisorManager(host, context, note)
}

const OPEN: Readonly<Record<ManagerKind, Open>> = {
  systemd: openSystemd,
  launchd: openLaunchd,
  schtasks: openSchtasks,
  supervisor: openSupervisor,
}
const SYSTEM = { linux: 'systemd', darwin: 'launchd', win32: 'schtasks' } as const
