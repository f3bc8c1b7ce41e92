/** Returns the key of a provider from the vault of this process's home. Throws `credentials` and `storage`. */
export type VaultKeyReader = (provider: string) => Promise<string>

/** The part of the attaching process that the daemon client and the in-process runtime need. */
export interface AttachingProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  cwd(): string
  /** The user's home directory; empty when the system does not know one. */
  readonly homeDir: string
  /** The user id; ignored on Windows. */
  readonly uid: number
  /** Whether the user or a test opted out of the daemon. */
  readonly withoutDaemon: boolean
  /** Whether it stays for many turns, as a chat does, and not for one command. */
  readonly isInteractive?: boolean
  readonly stderr: { write(text: string): unknown }
  /**
   * Returns the path of the ripgrep bundled with the caller, unpacked into `folder` if necessary; undefined
   * when there is none.
   */
  ripgrep(folder: string): Promise<string | undefined>
  /**
   * Returns the code that the search worker runs, as source text or as a file; undefined when there is none.
   */
  searchWorker(): Promise<string | URL | undefined>
  /** Absent where the program does not know the vault. */
  readonly readVaultKey?: VaultKeyReader
  /** Returns the command that starts the same program again. */
  build(): Promise<{ readonly command: readonly [string, ...string[]] }>
}
