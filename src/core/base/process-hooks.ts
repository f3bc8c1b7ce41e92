/** The parts of the process that the guard of a terminal may use; bin/ implements them. */
export interface ProcessHooks {
  /** Calls back when the process ends in any way it can detect: exit, exception, or rejection. */
  onExit(listener: () => void): Disposable
  /** Calls back on a request to stop (SIGTSTP). The guard must stop the process itself. */
  onStop(listener: () => void): Disposable
  /** Calls back when the process continues after it was stopped (SIGCONT). */
  onContinue(listener: () => void): Disposable
  /** Stops the process and its group; returns when it continues. */
  stop(): void
  /** Writes to the terminal synchronously; failures are ignored. */
  writeNow(bytes: string): void
  /** Restores line editing, echo and signals of the terminal as a shell expects them. */
  makeCooked(): void
}
