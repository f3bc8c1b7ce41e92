import { getErrorCode } from '../base/system-error.ts'

/** Sends a signal to a process, or to a group by its negative id; one that is gone already is none's concern. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile, or became another user's: either way it is not ours to end.
  }
}

/** Whether there is a process of that id, of whichever user; one that waits for its parent counts. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (reason) {
    return getErrorCode(reason) === 'EPERM'
  }
}
