import type { Readable, Writable } from 'node:stream'

/** A program to start. It is looked for on the PATH of `env` unless it holds a separator; no shell ever parses it. */
export interface ProcessCommand {
  argv: readonly [string, ...string[]]
  /** Absolute. */
  cwd: string
  /**
   * The whole environment of the program; the owner's mark is added to it. It passes through /bin/sh, which may leave out
   * names that are no identifiers, keeps its own (IFS, PS1), and corrects a PWD that does not name `cwd`.
   */
  env: Readonly<Record<string, string>>
  /** `none` is /dev/null. A pipe is a socket to the program, for which bash reads its ~/.bashrc. By default `pipe`. */
  stdin?: 'pipe' | 'none'
  /**
   * `stdout` sends both down one pipe, so that they stay in the order they were written; `stderr` is then empty. Windows
   * cannot and keeps two. By default `pipe`.
   */
  stderr?: 'pipe' | 'stdout'
}

/** How a program ended; one of the two is set. */
export interface ExitStatus {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * A program that runs in a process group of its own, which ends with its owner, however the owner ends.
 *
 * Whoever starts one ends or releases it, also when the program has ended by itself: what it started may live on, and
 * so does the process that watches over them. Somebody must read stdout and stderr; a failing pipe just ends. Disposing
 * is `end()`.
 */
export interface RunningProcess extends AsyncDisposable {
  /** Of the program, and of its group. */
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the program itself has ended; others of its group may still run and hold its pipes. Never rejects. */
  readonly exited: Promise<ExitStatus>
  /**
   * Processes that run now because of it, without those that watch over it; the program's own pid may be among them.
   * On Linux those of its session, and those that left it but bear its mark; on macOS its group; none on Windows.
   */
  members(): Promise<number[]>
  /**
   * Ends the whole group: TERM, then KILL after two seconds. Resolves when nothing of it is left. Any number of times;
   * never rejects.
   */
  end(): Promise<void>
  /** As end(), for a host that is leaving: nobody waits, and nothing keeps this process alive. */
  release(): void
}

/**
 * Starts programs whose groups end with this process (services.md, "Ending everything when the host dies").
 *
 * Disposing ends all of them, in parallel, within about 2.5 seconds.
 */
export interface ProcessHost extends AsyncDisposable {
  /**
   * Resolves once the group is guarded. Throws `missing` when there is no such program or directory, `failed` when it
   * cannot be started, `unavailable` when this host was disposed or has left.
   */
  start(command: ProcessCommand): Promise<RunningProcess>
  /** Releases all that run, and starts nothing further: for a process that is leaving. */
  releaseAll(): void
}
