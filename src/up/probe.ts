/** What a service says when it is asked itself, over its socket, its port or its file. */
export interface Probe {
  /** Whether something answers as a service of ours does. */
  answers: boolean
  /** Why it does not count as ready, as the end of a sentence. */
  problem?: string
  /** Something answers where the service should, and is not that service. */
  isForeign?: boolean
  /** Something listens at its port and does not say what it is. */
  isUnnamed?: true
  pid?: number
  /** The version of the program that runs. */
  version?: string
  port?: number
  /** When it began, milliseconds since 1970. */
  since?: number
  /** It ends by itself after so long without use, milliseconds: a command started it, no service manager. */
  idleExitMs?: number
  /** What is left of one that has gone. */
  leftover?: Leftover
}

/** A file of a service that is not there. */
export interface Leftover {
  /** Absolute. */
  file: string
  /** Of the content that nothing can come of any more (stampOf()); absent where that is not certain. */
  stamp?: string
}

/** Asks a service of that name. It never fails: what goes wrong is a problem in what it gives. */
export type ProbeService = (name: string, signal: AbortSignal) => Promise<Probe>
