import type { CommandHandler } from '../../cli/command.ts'
import { endDaemon } from '../../daemon/serve/end-daemon.ts'
import { notRunning, toDaemonTarget } from './running.ts'

/** Runs `crabtalk daemon stop`: returns when the process has exited. */
export const stopDaemonCommand: CommandHandler = async ({ host, signal }) => {
  const pid = await endDaemon(toDaemonTarget(host), signal)
  if (pid === undefined) throw notRunning(host, 'stop the daemon')
  host.stdout.write(`stopped (pid ${pid})\n`)
  return 0
}
