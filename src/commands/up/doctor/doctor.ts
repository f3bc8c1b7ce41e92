import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Check, type CheckContext, type CheckResult, note, ok, warning } from '../../../cli/check.ts'
import type { CommandHandler } from '../../../cli/command.ts'
import { daemonEndpoint } from '../../../daemon/find-daemon.ts'
import { fileSizes } from '../../../up/logs/log-files.ts'
import { freeSpaceNotes, LARGE_LOG_BYTES } from '../../../up/ps/disk-notes.ts'
import { DOCTOR_CHECKS, runChecks } from '../../doctor/doctor.ts'
import { bytesText } from '../packages/facts-text.ts'
import { checkComponents } from './components.ts'
import { checkServiceEnvironment } from './environment.ts'
import { checkServicePaths } from './paths.ts'
import { checkServices } from './services.ts'

/** `crabup doctor`: the checks of `crabtalk doctor`, and those of the services. */
export const crabupDoctorCommand: CommandHandler = async (invocation) => {
  return await runChecks(invocation, [
    ...DOCTOR_CHECKS,
    ['services', checkServices],
    ['service environment', checkServiceEnvironment],
    ['service PATH', checkServicePaths],
    ['logs', checkLogs],
    ['components', checkComponents],
    ['system', checkSystem],
  ])
}

function toLargeLogResult(path: string, name: string, bytes: number): CheckResult {
  const [, service] = /^([a-z0-9-]+)\.crash\.log$/.exec(name) ?? []
  const hint =
    service === undefined
      ? 'remove it when no process writes to it'
      : `crabup ${service} stop, then crabup ${service} start, keeps only its end`
  return warning(`${path} has ${bytesText(bytes)}`, hint)
}

function socket({ host, paths }: CheckContext): CheckResult {
  const { endpoint, addressFile } = daemonEndpoint({ paths, env: host.env, uid: host.uid })
  if (endpoint.kind !== 'unix') return ok('the daemon listens on a named pipe')
  if (addressFile === undefined) return ok('the path of the socket is short enough')
  return note(`${paths.run} is too long for a socket, which is in ${dirname(endpoint.path)} instead`)
}

/** WSL shuts down an idle distribution together with everything that runs in it. */
async function wsl({ host }: CheckContext): Promise<CheckResult[]> {
  const kernel = await readFile('/proc/version', 'utf8').catch(() => '') // another platform
  if (!host.env['WSL_DISTRO_NAME'] && !/microsoft/i.test(kernel)) return []
  const init = await readFile('/proc/1/comm', 'utf8').catch(() => '')
  return [
    note(
      'WSL stops an idle distribution together with its services; the daemon is still started on demand',
      '[wsl2] vmIdleTimeout=-1 in %UserProfile%\\.wslconfig keeps it running',
    ),
    init.trim() === 'systemd'
      ? ok('systemd is running in this distribution')
      : note(
          'systemd is not running in this distribution, so nothing starts automatically',
          '[boot] systemd=true in /etc/wsl.conf, then wsl --shutdown',
        ),
  ]
}

/** Checks for oversized logs, although the guard bounds printed output and programs bound their own logs. */
const checkLogs: Check = async ({ paths }) => {
  const sizes = await fileSizes(paths.logs)
  const room = await freeSpaceNotes(paths.home)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const large = sizes.filter(({ bytes }) => bytes > LARGE_LOG_BYTES)
  return [
    ok(`logs take ${bytesText(total)}`),
    ...room.map(({ message, hint }) => warning(message, hint)),
    ...large.map(({ name, bytes }) => toLargeLogResult(join(paths.logs, name), name, bytes)),
  ]
}

/** Checks the parts of the system that affect services: the location of the socket, and WSL. */
const checkSystem: Check = async (context) => {
  return [socket(context), ...(await wsl(context))]
}
