import type { CheckpointLocation, PartToSave, SavedPart } from '../../search/checkpoint/types.ts'
import type { Background } from '../../search/parts.ts'
import type { FileStamp } from '../../storage/session-reader.ts'
import type { ReadPosition, SessionHeader } from '../../storage/types.ts'

/** A session file to index, entirely or from a cursor on. */
export interface FileToRead {
  /** The ordinal of the session in the index. */
  group: number
  path: string
  /** Absent: from the beginning. */
  since?: ReadPosition
}

/** The outcome of reading a file: all its documents up to `cursor` are in this batch or an earlier one. */
export interface ReadFile {
  group: number
  /** Undefined when the file does not exist, or when it is unreadable; then `problem` is the reason. */
  header: SessionHeader | undefined
  /** After its last complete line. */
  cursor: ReadPosition
  /** Taken before it was read. */
  stamp: FileStamp | undefined
  /**
   * Whether the documents of this file in any batch have to be discarded: the cursor does not fit the file,
   * because it was replaced or truncated, or reading was interrupted. Remove the session and read it again
   * under another ordinal.
   */
  changed: boolean
  problem?: string
}

/**
 * Documents of session files with their terms as numbers. Terms are numbered from 0 over the keys of all
 * batches in order, and from 0 again at each batch with `isFirst`.
 */
export interface ReadBatch {
  isFirst: boolean
  /** The terms that are new in this batch: their concatenated bytes, and the length and hash of each. */
  keys: Uint8Array
  keyLengths: Uint8Array
  keyHashes: Uint32Array
  /** One item per document, in the order of files and lines; only the last title and summary of a file. */
  groups: Uint32Array
  kinds: Uint8Array
  seqs: Uint32Array
  offsets: Uint32Array
  times: Float64Array
  /** The number of items in `terms` of each document. */
  counts: Uint32Array
  /** The terms of all documents, concatenated, repetitions included. */
  terms: Uint32Array
  /** The files that end in this batch. */
  files: readonly ReadFile[]
}

/** The long-running jobs of an index. */
export interface BackgroundJobs extends Background {
  /**
   * Reads files in the given order; each file ends with its ReadFile unless reading throws. A batch has about
   * 65,536 terms; the next one is built while the previous one is used.
   */
  readFiles(files: readonly FileToRead[], signal: AbortSignal): AsyncGenerator<ReadBatch>
  /** Saves like saveCheckpoint(); settles, aborted or not, only when no more writes are running. */
  save(location: CheckpointLocation, parts: readonly PartToSave[], signal: AbortSignal): Promise<string[]>
  /** Loads like loadCheckpoint(). */
  load(location: CheckpointLocation, signal: AbortSignal): Promise<SavedPart[] | undefined>
}

/** Background jobs in another thread, until disposed. */
export interface IndexBackground extends BackgroundJobs, AsyncDisposable {}

/**
 * Returns the program of the worker: its text in the binary and the package, its file when running from
 * source, or undefined when there is none. Without a worker, everything runs in the calling thread.
 */
export type WorkerSource = () => Promise<string | URL | undefined>
