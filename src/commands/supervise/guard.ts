import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'
import { LogFile } from '../../core/base/log-file.ts'
import { guardServices } from '../../up/guard/guard.ts'
import { toServiceLabel } from '../../up/names.ts'
import { isKeptAlive } from '../../up/ps/state.ts'
import {
  listUnitNames,
  openServicesContext,
  type ServicesContext,
} from '../../up/services/services-context.ts'
import { guardDefaults, managedServices } from './guard-ports.ts'

/**
 * Guards the services that systemd or launchd runs for a home, and returns the exit code: 0 when no service
 * is kept running any more, or that of `throttled` when this program was replaced, so that the new one is
 * started.
 */
export async function guardHome(host: Host): Promise<number> {
  const over = new AbortController()
  using _ = host.onSignal((name) => {
    if (name !== 'SIGHUP') over.abort()
  })
  const context = await openServicesContext(host, over.signal)
  using log = new LogFile({ path: join(context.paths.logs, 'supervisor.log'), pid: host.pid, now: Date.now })
  const [program] = (await host.build()).command
  const inode = getInode(program)
  let isReplaced = false
  let idleChecks = 0
  const isOver = async () => {
    isReplaced = getInode(program) !== inode
    idleChecks = (await hasKeptAlive(context, over.signal)) ? 0 : idleChecks + 1
    return isReplaced || idleChecks > MAX_IDLE_CHECKS
  }
  log.log('info', 'Guarding services', { manager: context.manager.kind })
  await guardServices(
    {
      ...guardDefaults(host, context.paths),
      running: (signal) => managedServices(context, signal),
      log: log.log,
      isOver,
    },
    over.signal,
  )
  return isReplaced ? ERROR_KINDS.throttled.exit : 0
}

async function hasKeptAlive(context: ServicesContext, signal: AbortSignal): Promise<boolean> {
  const names = await listUnitNames(context, signal)
  const labels = names.map((name) => toServiceLabel(name, context.labels))
  const statuses = await context.manager.status(labels, signal)
  return statuses.some((status) => isKeptAlive(status) && status.state !== 'failed')
}

function getInode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

/**
 * The number of consecutive checks without services before the guard ends, because a service may be between
 * two starts.
 */
const MAX_IDLE_CHECKS = 2
