import { getErrorCode } from '../base/system-error.ts'

/** Sends a signal to a process, or to a group by its negative id. Ignores one that is already gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has exited, or the id belongs to another user now: in both cases it is not ours to end.
  }
}

/** Whether a process with that id exists, for any user. Zombies count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (reason) {
    return getErrorCode(reason) === 'EPERM'
  }
}
