import type { CommandHandler } from '../../cli/command.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { requireRunning } from './running.ts'

/** Runs `crabtalk daemon reload`. */
export const reloadDaemonCommand: CommandHandler = async ({ host, signal }) => {
  const { dispatch, info, olderAt } = await requireRunning(host, 'reload the daemon', signal)
  await request(dispatch, 'reload', {}, signal)
  host.stdout.write(`reloaded (${olderAt ?? `pid ${info.pid}`})\n`)
  return 0
}
