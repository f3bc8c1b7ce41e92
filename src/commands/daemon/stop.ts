import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import { isRunning } from '../../core/process/signals.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { Run } from '../command.ts'
import { requireRunning } from './running.ts'

/** A daemon is gone within 5 s; that of a machine which is busy may take longer. */
const WAIT_MS = 15_000
const LOOK_MS = 20

/** `crabtalk daemon stop`: returns when the process is gone. */
export const stop: Run = async ({ host, signal }) => {
  const { dispatch, info } = await requireRunning(host, 'stop the daemon', signal)
  await request(dispatch, 'shutdown', {}, signal)
  const deadline = performance.now() + WAIT_MS
  while (isRunning(info.pid)) {
    if (performance.now() > deadline) throw stillThere(info.pid)
    await sleep(LOOK_MS)
  }
  host.stdout.write(`stopped (pid ${info.pid})\n`)
  return 0
}

function stillThere(pid: number): CrabError {
  const why = `process ${pid} is still there after ${WAIT_MS / 1000} s`
  return new CrabError('timeout', `Cannot stop the daemon: ${why}`, {
    hint: `see logs/daemon.log, or end it with: kill -9 ${pid}`,
  })
}
