import type { ErrorKind } from '../../base/errors.ts'
import type { LogLevel } from '../../base/log.ts'
import type { CheckpointPlace, PartToSave } from '../../search/checkpoint/types.ts'
import type { FrozenTail, MergeJob } from '../../search/parts.ts'
import type { FileToRead } from './types.ts'

/** What the worker is asked to do. Arrays on SharedArrayBuffers are not copied on the way. */
export type WorkerJob =
  | { job: 'seal'; tail: FrozenTail }
  | { job: 'merge'; merge: MergeJob }
  | { job: 'save'; place: CheckpointPlace; parts: readonly PartToSave[] }
  | { job: 'load'; place: CheckpointPlace }
  /** Answered with the number of the run. */
  | { job: 'open'; files: readonly FileToRead[] }
  /** Answered with a batch, or undefined behind the last one. */
  | { job: 'next'; run: number }
  | { job: 'close'; run: number }

/** To the worker: each job is answered once, `stop` is not. */
export type Request = { id: number } & (WorkerJob | { job: 'stop' })

/** From the worker. */
export type Reply =
  | { id: number; value: unknown }
  | { id: number; failure: Failure }
  | { log: readonly [level: LogLevel, message: string] }

/** A failure between threads. */
export interface Failure {
  /** Undefined: a fault of this program. */
  kind: ErrorKind | undefined
  message: string
  hint: string | undefined
}

/** The worker ended before it answered: what it was asked may be asked again. */
export class WorkerEnded extends Error {}
