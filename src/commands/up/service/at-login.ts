import type { CommandHandler } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { MANAGER_NAMES } from '../../../up/services/manager-text.ts'
import { fetchStatus, isActive, type OpenService, openService } from '../../../up/services/open-service.ts'
import { isDryRun, printPlan } from './dry-run.ts'
import { showEdits } from './unit-diff.ts'

/** `crabup NAME enable`: starts the service at login; whether it runs now does not change. */
export const enableServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const at = await openService(host, name, signal)
  requireLoginSupport(at)
  if (isDryRun(options)) return await printPlan(at, 'enable')
  const spec = at.spec()
  await showEdits(at, spec, { options }, signal)
  await at.manager.enable(spec, signal)
  host.stdout.write(
    `${name} starts at login${isActive(await fetchStatus(at, signal)) ? '' : `; crabup ${name} start starts it now`}\n`,
  )
  return 0
}

/** `crabup NAME disable`: no longer starts the service at login; a running service continues. */
export const disableServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const at = await openService(host, name, signal)
  requireLoginSupport(at)
  if (isDryRun(options)) return await printPlan(at, 'disable')
  const status = await fetchStatus(at, signal)
  if (status.isInstalled) await at.manager.disable(at.stopSpec, signal)
  host.stdout.write(`${name} does not start at login${isActive(status) ? '; it keeps running' : ''}\n`)
  return 0
}

function requireLoginSupport({ manager, service }: OpenService<Host>): void {
  if (manager.kind !== 'supervisor') return
  const why = manager.note ?? `${MANAGER_NAMES.supervisor} does not start when you log in`
  throw new CrabError('unavailable', `Cannot change whether ${service.name} starts at login: ${why}`, {
    hint: `crabup ${service.name} start starts it now; run that from your login scripts`,
  })
}
