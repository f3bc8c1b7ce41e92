import type { ProcessCommand, RunningProcess } from './types.ts'

/** A command with its resolved program, and with the owner tag in its environment. */
export interface Launch extends ProcessCommand {
  /** The path of the program, absolute. */
  program: string
  ownerTag: string
  /** Called once, when the process has been ended or released. */
  onLetGo: () => void
}

/** The operations that differ between operating systems. */
export interface Platform {
  /**
   * Returns the prefix of the owner tags of this process's programs. It ends in a full stop and is unique
   * among processes.
   */
  identify(pid: number): Promise<string>
  /** Starts a program. Throws `failed`. */
  start(launch: Launch): Promise<RunningProcess>
  /** Ends programs of dead owners, as far as this system shows them. It may fail; other processes try again. */
  sweep(pid: number, signal: AbortSignal): Promise<void>
}
