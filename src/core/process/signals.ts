/** Sends a signal to a process, or to a group by its negative id; one that is gone already is none's concern. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile, or became another user's: either way it is not ours to end.
  }
}
