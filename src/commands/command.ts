import type { Host } from './host.ts'

/** One option of a command; `value` names its value, absent for a flag. */
export interface Option {
  name: string
  short?: string
  value?: string
  summary: string
}

/** A parsed command line. Values are the strings the person typed, never numbers or booleans made of them. */
export interface Options {
  readonly args: readonly string[]
  /** Whether a flag was given. */
  has(name: string): boolean
  /** How often a flag was given. */
  count(name: string): number
  /** The last value given; undefined when there was none. */
  value(name: string): string | undefined
  /** Every value given, in order. */
  values(name: string): readonly string[]
}

/** What a command is called with. */
interface Invocation {
  /** The name it was started by: `crabtalk` or `crabup`. */
  program: string
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
  /** Behind the argument of this index (from 0) every word is taken as it stands: it belongs to another program. */
  rawFrom?: number
  summary: string
  /** What its help says besides, a paragraph. */
  details?: string
  options: readonly Option[]
  examples: readonly string[]
  load(): Promise<Run>
}
