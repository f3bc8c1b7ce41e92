import type { CommandHandler } from '../../cli/command.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { endDaemon } from '../../daemon/serve/end-daemon.ts'
import { notRunning, requireRunning, toDaemonTarget } from './running.ts'

/** Runs `crabtalk daemon reload`. */
export const reloadDaemonCommand: CommandHandler = async ({ host, signal }) => {
  const { dispatch, info, olderAt } = await requireRunning(host, 'reload the daemon', signal)
  await request(dispatch, 'reload', {}, signal)
  host.stdout.write(`reloaded (${olderAt ?? `pid ${info.pid}`})\n`)
  return 0
}

/** Runs `crabtalk daemon stop`: returns when the process has exited. */
export const stopDaemonCommand: CommandHandler = async ({ host, signal }) => {
  const pid = await endDaemon(toDaemonTarget(host), signal)
  if (pid === undefined) throw notRunning(host, 'stop the daemon')
  host.stdout.write(`stopped (pid ${pid})\n`)
  return 0
}
