import type { ProcessCommand, RunningProcess } from './types.ts'

/** A command whose program was found, and whose environment bears its mark. */
export interface Launch extends ProcessCommand {
  /** Absolute. */
  program: string
  mark: string
  /** Called once, when the process was ended or released. */
  onLetGo: () => void
}

/** What each operating system does its own way. */
export interface Platform {
  /** What the marks of this process's programs begin with; it ends in a full stop and is no other process's. */
  identify(pid: number): Promise<string>
  /** Fails with `failed`. */
  start(launch: Launch): Promise<RunningProcess>
  /** Ends what owners that are dead have left running, as far as this system shows it. May fail; others try again. */
  sweep(pid: number, signal: AbortSignal): Promise<void>
}
