import { request } from '../../core/protocol/dispatch.ts'
import type { Run } from '../command.ts'
import { requireRunning } from './running.ts'

/** `crabtalk daemon reload`. */
export const reload: Run = async ({ host, signal }) => {
  const { dispatch, info, olderAt } = await requireRunning(host, 'reload the daemon', signal)
  await request(dispatch, 'reload', {}, signal)
  host.stdout.write(`reloaded (${olderAt ?? `pid ${info.pid}`})\n`)
  return 0
}
