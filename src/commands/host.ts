import type { ProcessHooks } from '../tui/terminal/guard.ts'
import type { Output } from './output.ts'

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** What a command may use of the process it runs in; bin/ makes it, tests make their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** Of the user; 0 on Windows. */
  readonly uid: number
  /** Whether the person asked for no daemon to be used. */
  readonly withoutDaemon: boolean
  /** Resident memory of this process, bytes. */
  memoryBytes(): number
  /** The working directory, absolute. Throws `no-input` when it no longer exists. */
  cwd(): string
  /** The person's own directory; empty when the system knows none. */
  readonly homeDir: string
  readonly stdout: Output
  readonly stderr: Output
  /** Width of the terminal; 80 when it does not say. */
  columns(): number
  /** What standard input is: nobody's words (`none`: /dev/null), a person's keys, a file, or a pipe or socket. */
  stdinKind(): 'none' | 'terminal' | 'file' | 'pipe'
  /** Standard input as a stream of bytes; nothing is read before it is asked for. */
  stdin(): AsyncIterable<Uint8Array> & { destroy(): void }
  /** The terminal this process belongs to, whatever its standard streams are; undefined when there is none that can be used. The caller disposes it. */
  terminal(): Terminal | undefined
  /** Standard input and output as streams of one terminal, for what draws on it; undefined when either is none. */
  screen(): TerminalStreams | undefined
  /** Calls back for each of these signals until disposed; while somebody listens the signal does not end the process. */
  onSignal(listener: (signal: SignalName) => void): Disposable
  /** Calls back for what nobody caught, until disposed; while somebody listens it does not end the process. */
  onCrash(listener: (reason: unknown) => void): Disposable
  /** Whether one of these signals has come. */
  readonly isSignalled: boolean
  /** Takes up the time zone that the machine is in now, unless the environment names one; what comes of a Date follows. */
  rereadTimeZone(): void
  /** The path of the ripgrep that comes with this program, unpacked in that folder where it must be; undefined when there is none. */
  ripgrep(folder: string): Promise<string | undefined>
  /** What the worker of the search runs: its text, or its file; undefined when there is none. */
  searchWorker(): Promise<string | URL | undefined>
  /** The licenses of what is inside this program; undefined when it runs from source. */
  notices(): Promise<Notices | undefined>
  /** Which program this is. */
  build(): Promise<Build>
  /** Ends the process at once, for a second Ctrl-C or a reader that blocks for ever. */
  leave(code: number): never
}

/** Both ends of a terminal. */
export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly hooks: ProcessHooks
}

/** The works inside the program: its own licence first, then third-party software in the order of names. */
export interface Notices {
  components: readonly LicensedComponent[]
  /** Full licence texts and notices; components refer to them by their index. */
  texts: readonly string[]
}

/** A work and the terms it comes under. */
export interface LicensedComponent {
  name: string
  version: string
  /** An SPDX expression. */
  license: string
  /** A package URL. */
  purl: string
  texts: readonly number[]
}

/** The program that runs. */
export interface Build {
  /** The file a person started: the binary, or the script. */
  path: string
  /** What starts it again, without arguments of its own. */
  command: readonly [string, ...string[]]
  /** The version of Node in it. */
  node: string
  /** Built into one file; else it runs from source. */
  isOneFile: boolean
  /** Whether a ripgrep comes with it. */
  hasRipgrep: boolean
}

/** The terminal of a person who can be asked. It stays in the mode it is in: whatever ends us leaves nothing to restore. */
export interface Terminal extends Disposable {
  /** Which terminal it is; the same for every process on it. */
  readonly name: string
  readonly output: Output
  /** Throws away the lines that were typed before anything was asked, and returns them, each with its end. */
  forgetInput(): string
  /** The next line that is typed, without its end; undefined at the end of input (Ctrl-D). Throws `denied` when the terminal has gone. */
  readLine(signal: AbortSignal): Promise<string | undefined>
}
