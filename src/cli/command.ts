import type { CrabError } from '../core/base/errors.ts'
import type { Host } from './host.ts'

/**
 * The kind of a word on a command line, for which the program can list completions; files are completed by
 * the shell.
 */
export type WordKind =
  /** AGENT/SENDER. */
  | 'address'
  | 'agent'
  /** A pending question. */
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
  /** An active run. */
  | 'run'
  | 'sender'
  | 'server'
  /** A service of the service manager. */
  | 'service'
  | 'shell'
  | 'skill'
  /** A server of the catalog. */
  | 'template'
  /** A token of a TCP client. */
  | 'token'

/** An option of a command; `value` names its value, and is absent for a flag. */
export interface CommandOption {
  name: string
  short?: string
  value?: string
  /** Whether the value may be left out; it is then empty. */
  isValueOptional?: boolean
  /** The only valid values: parsing rejects any other, and help and completions list them. */
  choices?: readonly string[]
  /** Further values, which the command itself rejects with an explanation. */
  refused?: readonly string[]
  /** The default, as help shows it. */
  fallback?: string
  /** The kind of its values, for completions. */
  kind?: WordKind
  /** Words that are completed besides values of its kind. */
  known?: readonly string[]
  summary: string
}

/**
 * A parsed command line. Values are the strings that the user typed, never converted to numbers or booleans.
 */
export interface ParsedOptions {
  readonly args: readonly string[]
  /** Whether a flag was given. */
  has(name: string): boolean
  /** Returns how often a flag was given. */
  count(name: string): number
  /** Returns the last value; undefined when there is none. */
  value(name: string): string | undefined
  /** Returns every value, in order. */
  values(name: string): readonly string[]
}

/** The arguments of a command handler. */
interface Invocation {
  /** The name of the program: `crabtalk` or `crabup`. */
  program: string
  /** The commands of that program. */
  commands: readonly Command[]
  /** The words that named the command, with the name of a service in place of `<service>` in its row. */
  path: readonly string[]
  options: ParsedOptions
  host: Host
  /** Aborted when the command is over, even after a failure. */
  signal: AbortSignal
}

/** Runs a command and returns its exit code. */
export type CommandHandler = (invocation: Invocation) => Promise<number>

/**
 * Reports a rejected command line to a program, in the format it requested; the message for people is printed
 * in any case.
 */
export type ReportRefusal = (at: { error: CrabError; words: readonly string[]; host: Host }) => Promise<void>

/** A row of the command table, from which help, completions, the reference page and routing are derived. */
export interface Command {
  /** The words that name it; `<service>` stands for the name of any service. */
  path: readonly string[]
  /** The arguments in cac's notation: `<name>`, `[...prompt]`. */
  args: string
  /**
   * The index (from 0) of the argument after which every word is taken as it stands, because it belongs to
   * another program.
   */
  rawFrom?: number
  summary: string
  /** A further paragraph of its help. */
  details?: string
  options: readonly CommandOption[]
  examples: readonly string[]
  /** Advice for options that the command does not have but users may look for, keyed by how they are typed. */
  instead?: Readonly<Record<string, string>>
  /** Advice for arguments beyond those that the command takes, such as a secret. */
  surplus?: string
  /** The kinds of its arguments, for completions; the last one applies to all that follow. */
  kinds?: readonly (WordKind | undefined)[]
  /** Hides a command that only our own scripts use from help and completions. */
  hidden?: true
  /** Marks a command that never uses a daemon, and therefore has no --no-daemon. */
  isAlone?: true
  /** Marks a command that works only with a daemon, and therefore has no --no-daemon. */
  needsDaemon?: true
  load(): Promise<CommandHandler>
  loadRefusal?(): Promise<ReportRefusal>
}

/** Formats arguments in cac's notation for readers: `[...words]` becomes `[words…]`. */
export function formatArgumentNotation(args: string): string {
  return args.replaceAll(/([<[])\.\.\.(\w+)([>\]])/g, '$1$2…$3')
}
