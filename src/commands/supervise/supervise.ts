import { join } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { LogFile } from '../../core/base/log-file.ts'
import { closeInherited } from '../../core/process/close-inherited.ts'
import { guardServices } from '../../up/guard/guard.ts'
import { toUpHost } from '../../up/host.ts'
import { revertUnfinishedUpdates } from '../../up/packages/revert-updates.ts'
import { restoreDesired, servicesFolder } from '../../up/supervisor/desired-state.ts'
import { cleanEnvironment } from '../../up/supervisor/environment.ts'
import { supervise as superviseHome } from '../../up/supervisor/supervise.ts'
import { guardDefaults, supervisedServices } from './guard-ports.ts'

/**
 * Runs `crabup supervise`: keeps the services of a home in the desired state of their files; SIGTERM stops
 * them and the supervisor.
 */
export const superviseCommand: CommandHandler = async ({ options, host }) => {
  closeInherited()
  const home = options.value('home')
  const paths = resolvePaths({
    env: home === undefined ? host.env : { ...host.env, CRABTALK_HOME: home },
    homeDir: host.homeDir,
    cwd: () => host.cwd(),
  })
  const over = new AbortController()
  const { platform } = toUpHost(host)
  const folder = servicesFolder(paths)
  await revertUnfinishedUpdates(paths, platform).catch(() => undefined) // the next crabup reports why it failed
  if (options.has('guard')) {
    const { guardHome } = await import('./guard.ts')
    return await guardHome({ ...host, env: { ...host.env, CRABTALK_HOME: paths.home } })
  }
  const [only] = options.args
  if (only !== undefined) await restoreDesired(folder, only)
  const now = () => Date.now()
  using log = new LogFile({ path: join(paths.logs, 'supervisor.log'), pid: host.pid, now })
  using _ = host.onSignal((name) => {
    if (name !== 'SIGHUP') over.abort() // the SIGHUP of a closing terminal is not for a process that outlives it
  })
  const guard = new AbortController()
  const guarded = guardServices(
    {
      ...guardDefaults(host, paths),
      running: () => supervisedServices(folder, only),
      log: log.log,
    },
    guard.signal,
  )
  const isOurs = await superviseHome(
    {
      folder,
      pid: host.pid,
      env: cleanEnvironment(host.env, platform),
      only,
      log: log.log,
      now,
    },
    over.signal,
  )
  guard.abort()
  await guarded
  if (!isOurs) host.stderr.write('crabup: the services of this home are already supervised\n')
  return 0
}
