/** The result of probing a service directly, over its socket, its port or its port file. */
export interface Probe {
  /** Whether something answers as a crabtalk service does. */
  answers: boolean
  /** The reason why it does not count as ready, as the end of a sentence. */
  problem?: string
  /** Whether another program answers at the service's address. */
  isForeign?: boolean
  /** Set when a program listens at its port but does not identify itself. */
  isUnnamed?: true
  pid?: number
  /** The version of the running program. */
  version?: string
  port?: number
  /** The start time, milliseconds since 1970. */
  since?: number
  /**
   * The idle time in milliseconds after which it exits by itself; set only for a daemon that a command
   * started on demand.
   */
  idleExitMs?: number
  /** A file left behind by a service that is no longer running. */
  leftover?: Leftover
}

/** A leftover file of a service that is not running. */
export interface Leftover {
  /** The absolute path. */
  file: string
  /** A stamp of the stale content (readStaleStamp()); absent when it is not certain that the file is stale. */
  stamp?: string
}

/** Probes the service of that name. Never throws: a failure is the `problem` of the result. */
export type ProbeService = (name: string, signal: AbortSignal) => Promise<Probe>
