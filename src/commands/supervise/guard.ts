import { statSync } from 'node:fs'
import { join } from 'node:path'
import { KINDS } from '../../core/base/errors.ts'
import { LogFile } from '../../core/base/log-file.ts'
import { guardServices } from '../../up/guard/guard.ts'
import { labelOf } from '../../up/names.ts'
import { isWanted } from '../../up/ps/state.ts'
import type { Host } from '../host.ts'
import { openPlace, unitNames, type ViewPlace } from '../up/view/place.ts'
import { guardPlace, managedServices } from './guard-ports.ts'

/**
 * Guards the services that systemd or launchd runs for a home, and gives the exit code: 0 when none of them is wanted any
 * more, and that of `throttled` when this program was replaced, so that it is started again as the new one.
 */
export async function guardHome(host: Host): Promise<number> {
  const over = new AbortController()
  using _ = host.onSignal((name) => {
    if (name !== 'SIGHUP') over.abort()
  })
  const place = await openPlace(host, over.signal)
  using log = new LogFile({ path: join(place.paths.logs, 'supervisor.log'), pid: host.pid, now: Date.now })
  const [program] = (await host.build()).command
  const inode = inodeOf(program)
  let isReplaced = false
  let idleLooks = 0
  const isOver = async () => {
    isReplaced = inodeOf(program) !== inode
    idleLooks = (await hasWanted(place, over.signal)) ? 0 : idleLooks + 1
    return isReplaced || idleLooks > IDLE_LOOKS
  }
  log.log('info', 'Guards services', { manager: place.manager.kind })
  await guardServices(
    {
      ...guardPlace(host, place.paths),
      running: (signal) => managedServices(place, signal),
      log: log.log,
      isOver,
    },
    over.signal,
  )
  return isReplaced ? KINDS.throttled.exit : 0
}

async function hasWanted(place: ViewPlace, signal: AbortSignal): Promise<boolean> {
  const names = await unitNames(place, signal)
  const labels = names.map((name) => labelOf(name, place.labels))
  const statuses = await place.manager.status(labels, signal)
  return statuses.some((status) => isWanted(status) && status.state !== 'failed')
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

/** A service may be between two starts. */
const IDLE_LOOKS = 2
