import type { CommandHandler } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { MANAGER_NAMES } from '../../../up/services/manager-text.ts'
import { fetchStatus, isActive, type OpenService, openService } from '../../../up/services/open-service.ts'
import { isDryRun, printPlan } from './dry-run.ts'
import { showEdits } from './unit-diff.ts'

/** `crabup NAME enable`: starts the service at login; whether it runs now does not change. */
export const enableServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const handle = await openService(host, name, signal)
  requireLoginSupport(handle)
  if (isDryRun(options)) return await printPlan(handle, 'enable')
  const spec = handle.spec()
  await showEdits(handle, spec, { options }, signal)
  await handle.manager.enable(spec, signal)
  host.stdout.write(
    `${name} starts at login${isActive(await fetchStatus(handle, signal)) ? '' : `; crabup ${name} start starts it now`}\n`,
  )
  return 0
}

/** `crabup NAME disable`: no longer starts the service at login; a running service continues. */
export const disableServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const handle = await openService(host, name, signal)
  requireLoginSupport(handle)
  if (isDryRun(options)) return await printPlan(handle, 'disable')
  const status = await fetchStatus(handle, signal)
  if (status.isInstalled) await handle.manager.disable(handle.stopSpec, signal)
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
