import type { Readable, Writable } from 'node:stream'

/** A program to start. It is looked for on the PATH of `env` unless it holds a separator; no shell ever parses it. */
export interface Command {
  argv: readonly [string, ...string[]]
  /** Absolute. */
  cwd: string
  /** The whole environment of the program; the owner's mark is added to it. */
  env: Readonly<Record<string, string>>
}

/** How a program ended; one of the two is set. */
export interface ExitStatus {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * A program that runs in a process group of its own, which ends with its owner, however the owner ends.
 *
 * Somebody must read stdout and stderr. Disposing is `end()`.
 */
export interface RunningProcess extends AsyncDisposable {
  /** Of the program, and of its group. */
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the program itself has ended; others of its group may still run and hold its pipes. Never rejects. */
  readonly exited: Promise<ExitStatus>
  /** Processes of its group that run now, without those that watch over it; the program's own pid may be among them. */
  members(): Promise<number[]>
  /** Ends the whole group: TERM, then KILL after two seconds. Resolves when nothing of it is left. Any number of times. */
  end(): Promise<void>
  /** As end(), for a host that is leaving: nobody waits, and nothing keeps this process alive. */
  release(): void
}

/** Starts programs whose groups end with this process (services.md, "Ending everything when the host dies"). */
export interface ProcessHost extends AsyncDisposable {
  /** Throws `missing` when there is no such program or directory, `failed` when it cannot be started. */
  start(command: Command): Promise<RunningProcess>
}
