import type { GarbageCollector } from '../core/base/garbage-collector.ts'
import type { ProcessHooks } from '../core/base/process-hooks.ts'
import type { Output } from './output.ts'

/** The signals that a command can handle. */
export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** The parts of its process that a command may use; bin/ implements it, and tests provide their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** The user id; 0 on Windows. */
  readonly uid: number
  /** Whether the user opted out of the daemon. */
  readonly withoutDaemon: boolean
  /** Returns the resident memory of this process in bytes. */
  memoryBytes(): number
  /** Loads the garbage collector, for a command that stays and needs much memory for a short time. */
  garbageCollector(): Promise<GarbageCollector>
  /** Returns the absolute working directory. Throws `no-input` when it no longer exists. */
  cwd(): string
  /** The user's home directory; empty when the system does not know one. */
  readonly homeDir: string
  readonly stdout: Output
  readonly stderr: Output
  /** Returns the width of the terminal; 80 when it is unknown. */
  columns(): number
  /**
   * Returns the kind of standard input: no input (`none`, such as /dev/null), the keys of a user, a file, or
   * a pipe or socket.
   */
  stdinKind(): 'none' | 'terminal' | 'file' | 'pipe'
  /** Returns standard input as a stream of bytes; nothing is read before the stream is read. */
  stdin(): AsyncIterable<Uint8Array> & { destroy(): void }
  /**
   * Opens the terminal that this process belongs to, whatever its standard streams are; undefined when there
   * is none that can be used. The caller disposes it.
   */
  terminal(): Terminal | undefined
  /**
   * Returns standard input and output as streams of one terminal, for drawing; undefined when either is not a
   * terminal.
   */
  screen(): TerminalStreams | undefined
  /**
   * Calls the listener for each of these signals until disposed; while there is a listener, the signal does
   * not end the process.
   */
  onSignal(listener: (signal: SignalName) => void): Disposable
  /**
   * Calls the listener for uncaught errors until disposed; while there is a listener, they do not end the
   * process.
   */
  onCrash(listener: (reason: unknown) => void): Disposable
  /** Whether one of these signals was received. */
  readonly isSignalled: boolean
  /** Adopts the current time zone of the machine for all dates, unless the environment sets one. */
  rereadTimeZone(): void
  /**
   * Returns the path of the bundled ripgrep, unpacked into `folder` if necessary; undefined when there is
   * none.
   */
  ripgrep(folder: string): Promise<string | undefined>
  /**
   * Returns the code that the search worker runs, as source text or as a file; undefined when there is none.
   */
  searchWorker(): Promise<string | URL | undefined>
  /** Returns the licenses of everything inside this program; undefined when it runs from source. */
  notices(): Promise<Notices | undefined>
  /** Returns the key of a provider from the vault. Throws `credentials` and `storage`. */
  readVaultKey?(provider: string): Promise<string>
  /** Describes this program. */
  build(): Promise<Build>
  /** Ends the process immediately, for a second Ctrl-C or a reader that blocks forever. */
  leave(code: number): never
}

/** The streams of a terminal. */
export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly hooks: ProcessHooks
}

/** The works inside the program: its own license first, then third-party software sorted by name. */
export interface Notices {
  components: readonly LicensedComponent[]
  /** The full license texts and notices; components refer to them by index. */
  texts: readonly string[]
}

/** A work and its license. */
export interface LicensedComponent {
  name: string
  version: string
  /** An SPDX expression. */
  license: string
  /** A package URL. */
  purl: string
  texts: readonly number[]
}

/** The running program. */
export interface Build {
  /** The file that the user started: the binary, or the script. */
  path: string
  /** The command that starts the program again, without arguments. */
  command: readonly [string, ...string[]]
  /** The version of Node that runs it. */
  node: string
  /** Whether it is one file; otherwise it runs from source. */
  isOneFile: boolean
  /** Whether ripgrep is bundled. */
  hasRipgrep: boolean
}

/**
 * A terminal on which the user can be asked. Its mode is never changed, so that nothing has to be restored
 * however the process ends.
 */
export interface Terminal extends Disposable {
  /** The name of the terminal; the same for every process on it. */
  readonly name: string
  readonly output: Output
  /** Discards the lines that were typed before a question, and returns them, each with its line break. */
  forgetInput(): string
  /**
   * Reads the next line, without its line break; undefined at the end of input (Ctrl-D). Throws `denied` when
   * the terminal is gone.
   */
  readLine(signal: AbortSignal): Promise<string | undefined>
}
