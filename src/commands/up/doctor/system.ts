import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { daemonEndpoint } from '../../../daemon/find-daemon.ts'
import { type Check, type CheckContext, type CheckResult, note, ok } from '../../doctor/check.ts'

/** Checks the parts of the system that affect services: the location of the socket, and WSL. */
export const checkSystem: Check = async (place) => {
  return [socket(place), ...(await wsl(place))]
}

function socket({ host, paths }: CheckContext): CheckResult {
  const { endpoint, addressFile } = daemonEndpoint({ paths, env: host.env, uid: host.uid })
  if (endpoint.kind !== 'unix') return ok('the daemon listens on a named pipe')
  if (addressFile === undefined) return ok('the path of the socket fits')
  return note(`${paths.run} is too long for a socket, which is in ${dirname(endpoint.path)} instead`)
}

/** WSL shuts down an idle distribution together with everything that runs in it. */
async function wsl({ host }: CheckContext): Promise<CheckResult[]> {
  const kernel = await readFile('/proc/version', 'utf8').catch(() => '') // another platform
  if (!host.env['WSL_DISTRO_NAME'] && !/microsoft/i.test(kernel)) return []
  const init = await readFile('/proc/1/comm', 'utf8').catch(() => '')
  return [
    note(
      'WSL ends a distribution that nobody uses, and its services with it; the daemon is started on demand all the same',
      '[wsl2] vmIdleTimeout=-1 in %UserProfile%\\.wslconfig keeps it running',
    ),
    init.trim() === 'systemd'
      ? ok('systemd runs in this distribution')
      : note(
          'systemd does not run in this distribution, so nothing starts by itself',
          '[boot] systemd=true in /etc/wsl.conf, then wsl --shutdown',
        ),
  ]
}
