import type { CrabError } from '../core/base/errors.ts'
import type { Host } from './host.ts'

/** What a word of a command line stands for, where the program can list what there is; files belong to the shell. */
export type WordKind =
  /** AGENT/SENDER. */
  | 'address'
  | 'agent'
  /** A question that waits. */
  | 'ask'
  | 'conversation'
  /** An entry of config/crons.toml. */
  | 'cron'
  | 'file'
  | 'folder'
  /** An entry of an agent's memory. */
  | 'memory'
  | 'model'
  | 'rule'
  /** A run that goes on. */
  | 'run'
  | 'sender'
  | 'server'
  /** What a service manager keeps running. */
  | 'service'
  | 'shell'
  | 'skill'
  /** A token of a TCP client. */
  | 'token'

/** One option of a command; `value` names its value, absent for a flag. */
export interface CommandOption {
  name: string
  short?: string
  value?: string
  /** The only values there are: parsing refuses any other, help and completions list them. */
  choices?: readonly string[]
  /** Values besides, which the command itself refuses and says why. */
  refused?: readonly string[]
  /** What holds without it, as help says it. */
  fallback?: string
  /** What its values are, for completions. */
  kind?: WordKind
  summary: string
}

/** A parsed command line. Values are the strings the person typed, never numbers or booleans made of them. */
export interface ParsedOptions {
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
  /** The commands of that program. */
  commands: readonly Command[]
  /** The words that named it; where its row has `<service>`, the name of one. */
  path: readonly string[]
  options: ParsedOptions
  host: Host
  /** Aborted when the command is over, however it ended. */
  signal: AbortSignal
}

/** Runs a command and gives its exit code. */
export type CommandHandler = (invocation: Invocation) => Promise<number>

/** Tells a program, in the form it asked for, that its command line is wrong; a person is told in any case. */
export type ReportRefusal = (at: { error: CrabError; words: readonly string[]; host: Host }) => Promise<void>

/** A row of the command table: help, completions, the reference page and routing all come from it. */
export interface Command {
  /** The words that name it; SERVICE stands for the name of any service. */
  path: readonly string[]
  /** Arguments in cac's notation: `<name>`, `[...prompt]`. */
  args: string
  /** Behind the argument of this index (from 0) every word is taken as it stands: it belongs to another program. */
  rawFrom?: number
  summary: string
  /** What its help says besides, a paragraph. */
  details?: string
  options: readonly CommandOption[]
  examples: readonly string[]
  /** What to do instead of options that it has not and people may look for, by how they are typed. */
  instead?: Readonly<Record<string, string>>
  /** What its arguments are, for completions; the last one holds for all that follow. */
  kinds?: readonly (WordKind | undefined)[]
  /** For scripts of ours only: no help and no completion names it. */
  hidden?: true
  /** It never asks a daemon to do what it does, so there is no --no-daemon. */
  isAlone?: true
  load(): Promise<CommandHandler>
  loadRefusal?(): Promise<ReportRefusal>
}
