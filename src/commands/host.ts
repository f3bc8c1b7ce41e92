import type { Output } from './output.ts'

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** What a command may use of the process it runs in; bin/ makes it, tests make their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** The working directory, absolute. Throws `no-input` when it no longer exists. */
  cwd(): string
  readonly stdout: Output
  readonly stderr: Output
  /** Width of the terminal; 80 when it does not say. */
  columns(): number
  /** What standard input is: nobody's words (`none`: /dev/null), a person's keys, a file, or a pipe or socket. */
  stdinKind(): 'none' | 'terminal' | 'file' | 'pipe'
  /** Standard input as a stream of bytes; nothing is read before it is asked for. */
  stdin(): AsyncIterable<Uint8Array> & { destroy(): void }
  /** Calls back for each of these signals until disposed; while somebody listens the signal does not end the process. */
  onSignal(listener: (signal: SignalName) => void): Disposable
  /** Ends the process at once, for a second Ctrl-C or a reader that blocks for ever. */
  leave(code: number): never
}
