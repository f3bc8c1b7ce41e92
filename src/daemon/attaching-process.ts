/** Who attaches: a process as far as the daemon, or a runtime in that process, needs to know it. */
export interface AttachingProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  cwd(): string
  /** The person's own directory; empty when the system knows none. */
  readonly homeDir: string
  /** Of the user; ignored on Windows. */
  readonly uid: number
  /** A person, or a test, wants no daemon to be used. */
  readonly withoutDaemon: boolean
  readonly stderr: { write(text: string): unknown }
  /** The path of the ripgrep that comes with the caller, unpacked in that folder where it must be. */
  ripgrep(folder: string): Promise<string | undefined>
  /** What the worker of the search runs: its text, or its file; undefined when there is none. */
  searchWorker(): Promise<string | URL | undefined>
  /** What starts the same program again. */
  build(): Promise<{ readonly command: readonly [string, ...string[]] }>
}
