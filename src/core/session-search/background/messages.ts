import type { ErrorKind } from '../../base/errors.ts'
import type { LogLevel } from '../../base/log.ts'
import type { CheckpointLocation, PartToSave } from '../../search/checkpoint/types.ts'
import type { FrozenTail, MergeJob } from '../../search/parts.ts'
import type { FileToRead } from './types.ts'

/** A job for the worker. Arrays over SharedArrayBuffers are not copied on the way. */
export type WorkerJob =
  | { job: 'seal'; tail: FrozenTail }
  | { job: 'merge'; merge: MergeJob }
  | { job: 'save'; location: CheckpointLocation; parts: readonly PartToSave[] }
  | { job: 'load'; location: CheckpointLocation }
  /** The reply is the number of the run. */
  | { job: 'open'; files: readonly FileToRead[] }
  /** The reply is a batch, or undefined after the last one. */
  | { job: 'next'; run: number }
  | { job: 'close'; run: number }

/** A message to the worker. Each job has exactly one reply; `stop` has none. */
export type Request = { id: number } & (WorkerJob | { job: 'stop' })

/** A message from the worker. */
export type Reply =
  | { id: number; value: unknown }
  | { id: number; failure: Failure }
  | { log: readonly [level: LogLevel, message: string] }

/** An error as it is sent between threads. */
export interface Failure {
  /** Undefined for a bug in this program. */
  kind: ErrorKind | undefined
  message: string
  hint: string | undefined
}

/** The worker ended before it replied; the job may be retried. */
export class WorkerEnded extends Error {}
