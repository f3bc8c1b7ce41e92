import type { Run } from '../command.ts'
import { endDaemon } from './end-daemon.ts'
import { noneRuns } from './running.ts'

/** `crabtalk daemon stop`: returns when the process is gone. */
export const stop: Run = async ({ host, signal }) => {
  const pid = await endDaemon(host, signal)
  if (pid === undefined) throw noneRuns(host, 'stop the daemon')
  host.stdout.write(`stopped (pid ${pid})\n`)
  return 0
}
