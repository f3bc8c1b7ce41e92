import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import { findSupervisor } from './supervisor/record.ts'
import { namesIn, servicesFolder } from './supervisor/wanted.ts'
import type { ManagerKind, ManagerPlace, ServiceManager, UpHost } from './types.ts'

export type { ManagerPlace } from './types.ts'

/** Which manager, and why as a clause. */
interface Choice {
  kind: ManagerKind
  note?: string | undefined
}

/**
 * What keeps services running here: what CRABTALK_SERVICE_MANAGER names; where services of this home run under our own
 * supervisor already, that; else what the system has, and our own supervisor where it has nothing that answers. Fails
 * with `config` on a name that is none.
 */
export async function chooseManager(
  host: UpHost,
  place: ManagerPlace,
  signal: AbortSignal,
): Promise<ServiceManager> {
  const { note } = named(host) ?? (await underSupervisor(host, place)) ?? (await ofSystem(host, signal))
  return (await import('./managers/supervisor.ts')).supervisorManager(host, place, note)
}

/** For tests, and for systems that look like something else than they are. */
function named({ env }: UpHost): Choice | undefined {
  const name = env['CRABTALK_SERVICE_MANAGER']
  if (name === undefined || name === '') return undefined
  const kind = KINDS.find((one) => one === name)
  if (kind) return { kind, note: `CRABTALK_SERVICE_MANAGER is ${kind}` }
  throw new CrabError('config', `Cannot use ${name} to run services: CRABTALK_SERVICE_MANAGER names none`, {
    hint: `one of ${KINDS.join(', ')}, or unset it`,
  })
}

/** What runs already is not run a second time by another manager that answers by now. */
async function underSupervisor({ platform }: UpHost, { paths }: ManagerPlace): Promise<Choice | undefined> {
  const folder = servicesFolder(paths)
  const isUsed = platform !== 'win32' && namesIn(folder).wanted.length > 0 && (await findSupervisor(folder))
  if (!isUsed) return undefined
  return {
    kind: 'supervisor',
    note: "services of this home run under crabup's own supervisor, and nothing starts at login",
  }
}

async function ofSystem(host: UpHost, _signal: AbortSignal): Promise<Choice> {
  return { kind: 'supervisor', note: `${whyNoSystemd(host)}, ${ALONE}` }
}

function whyNoSystemd({ env, uid }: UpHost): string {
  const isBooted = existsSync('/run/systemd/system')
  if (!isBooted) return env['WSL_DISTRO_NAME'] ? 'WSL runs without systemd' : 'no systemd here'
  const folder = env['XDG_RUNTIME_DIR'] || `/run/user/${uid}`
  const hasSession = existsSync(join(folder, 'systemd'))
  return hasSession ? 'systemd does not answer' : 'systemd has no session of this user'
}

const ALONE = 'so nothing starts at login'
const KINDS: readonly ManagerKind[] = ['systemd', 'launchd', 'schtasks', 'supervisor']
