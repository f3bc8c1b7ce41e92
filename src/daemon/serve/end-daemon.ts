import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import { readIdentity } from '../../core/process/service-process.ts'
import { sendSignal } from '../../core/process/signals.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { type DaemonTarget, findDaemon } from '../find-daemon.ts'
import { homeHolder } from './home-lease.ts'

/** The timeouts in milliseconds: a daemon exits within 5 s of a request, and later on a busy machine. */
const END_MS = 5000
const WAIT_MS = 15_000
const POLL_MS = 20

/**
 * Stops the daemon of this home and waits until it has exited; returns its pid, undefined when none is
 * running. Fails with `timeout`.
 */
export async function endDaemon(at: DaemonTarget, signal: AbortSignal): Promise<number | undefined> {
  const found = await findDaemon(at, signal)
  const pid = found?.info.pid ?? (await homeHolder(at.paths))?.pid
  if (pid === undefined) return undefined
  const identity = await readIdentity(pid)
  if (found) await request(found.dispatch, 'shutdown', {}, signal)
  if (identity === undefined) return pid
  const daemon = { pid, identity }
  // a daemon that does not exit by itself was not shutting down: its socket was removed
  if (!found && !(await hasEnded(daemon, END_MS))) sendSignal(pid, 'SIGTERM')
  if (!(await hasEnded(daemon, WAIT_MS))) throw stillRunning(pid)
  return pid
}

/**
 * Waits for a process to end. A zombie counts as ended: in a container without an init process no parent ever
 * reaps it.
 */
async function hasEnded(daemon: { pid: number; identity: string }, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while ((await readIdentity(daemon.pid)) === daemon.identity) {
    if (performance.now() > deadline) return false
    await sleep(POLL_MS)
  }
  return true
}

function stillRunning(pid: number): CrabError {
  const why = `process ${pid} is still running after ${WAIT_MS / 1000} s`
  return new CrabError('timeout', `Cannot stop the daemon: ${why}`, {
    hint: `see logs/daemon.log, or end it with: kill -9 ${pid}`,
  })
}
