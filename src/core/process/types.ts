import type { Readable, Writable } from 'node:stream'

/**
 * A program to start. It is looked up on the PATH of `env` unless it contains a separator. A shell never
 * parses it.
 */
export interface ProcessCommand {
  argv: readonly [string, ...string[]]
  /** The working directory, absolute. */
  cwd: string
  /**
   * The complete environment of the program; the owner tag is added to it. It passes through sh, which
   * may drop names that are not identifiers, keeps its own variables (IFS, PS1), and corrects a PWD that is
   * not `cwd`.
   */
  env: Readonly<Record<string, string>>
  /**
   * The standard input. `none` is /dev/null. The program sees a pipe as a socket, and bash then reads its
   * ~/.bashrc. By default `pipe`.
   */
  stdin?: 'pipe' | 'none'
  /**
   * The standard error. `stdout` sends both streams through one pipe, so that they keep their order; `stderr`
   * is then empty. Windows cannot do this and keeps two. By default `pipe`.
   */
  stderr?: 'pipe' | 'stdout'
}

/** The exit status of a program; one of the two is set. */
export interface ExitStatus {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * A program in its own process group, which ends with its owner, however the owner ends.
 *
 * The caller that starts one must end or release it, even when the program has exited by itself: processes
 * that it started may live on, and so does the watcher. The caller must read stdout and stderr; a failing
 * pipe just ends. Disposing is `end()`.
 */
export interface RunningProcess extends AsyncDisposable {
  /** The id of the program and of its group. */
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /**
   * Resolves when the program itself has exited; others of its group may still run and hold its pipes. Never
   * rejects.
   */
  readonly exited: Promise<ExitStatus>
  /**
   * Returns the running processes that belong to it, without the watcher; the program's own pid may be
   * included. On Linux these are the processes of its session, and those that left it but have its owner tag;
   * on macOS its group; none on Windows.
   */
  members(): Promise<number[]>
  /**
   * Ends the whole group: TERM, then KILL after two seconds. Resolves when no process of it is left. Can be
   * called repeatedly; never rejects.
   */
  end(): Promise<void>
  /** Like end(), for a host that is exiting: it does not wait, and nothing keeps this process alive. */
  release(): void
}

/**
 * Starts programs whose groups end with this process (ADR 0070).
 *
 * Disposing ends all of them, in parallel, within about 2.5 seconds.
 */
export interface ProcessHost extends AsyncDisposable {
  /**
   * Starts a program, and resolves once its group is guarded. Throws `missing` when there is no such program
   * or directory, `failed` when it cannot be started, `unavailable` when this host is disposed or released.
   */
  start(command: ProcessCommand): Promise<RunningProcess>
  /** Releases all running programs and starts no more, for a process that is exiting. */
  releaseAll(): void
}
