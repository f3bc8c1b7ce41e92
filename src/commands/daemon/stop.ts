import type { CommandHandler } from '../../cli/command.ts'
import { endDaemon } from './end-daemon.ts'
import { notRunning } from './running.ts'

/** Runs `crabtalk daemon stop`: returns when the process has exited. */
export const stopDaemonCommand: CommandHandler = async ({ host, signal }) => {
  const pid = await endDaemon(host, signal)
  if (pid === undefined) throw notRunning(host, 'stop the daemon')
  host.stdout.write(`stopped (pid ${pid})\n`)
  return 0
}
