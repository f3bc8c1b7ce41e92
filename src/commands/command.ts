import type { Host } from './host.ts'
import type { Options } from './parse.ts'

/** One option of a command; `value` names its value, absent for a flag. */
export interface Option {
  name: string
  short?: string
  value?: string
  summary: string
}

/** What a command is called with. */
export interface Invocation {
  command: Command
  options: Options
  host: Host
  /** Aborted when the command is over, however it ended. */
  signal: AbortSignal
}

/** Runs a command and gives its exit code. */
export type Run = (invocation: Invocation) => Promise<number>

/** A row of the command table: help, completions, the reference page and routing all come from it. */
export interface Command {
  /** The words that name it. */
  path: readonly string[]
  /** Arguments in cac's notation: `<name>`, `[...prompt]`. */
  args: string
  summary: string
  options: readonly Option[]
  examples: readonly string[]
  load(): Promise<Run>
}
