import type { CheckpointPlace, PartToSave, SavedPart } from '../../search/checkpoint/types.ts'
import type { Background } from '../../search/parts.ts'
import type { FileStamp } from '../../storage/session-reader.ts'
import type { ReadPosition, SessionHeader } from '../../storage/types.ts'

/** A session file, or what came behind a cursor, that is to be indexed. */
export interface FileToRead {
  /** Ordinal of the session in the index. */
  group: number
  path: string
  /** Absent: from its beginning. */
  since?: ReadPosition
}

/** How far a file was read: all its documents up to `cursor` are in this batch or came before it. */
export interface ReadFile {
  group: number
  /** Undefined when there is no such file, or it cannot be read: `problem` then says why. */
  header: SessionHeader | undefined
  /** Behind its last whole line. */
  cursor: ReadPosition
  /** Of before it was read. */
  stamp: FileStamp | undefined
  /**
   * Nothing of it that may have been in batches is of any use: the cursor given does not fit the file, which was
   * replaced or cut, or reading it broke off. Remove the session, and have it read again under another ordinal.
   */
  changed: boolean
  problem?: string
}

/**
 * Documents of session files with their terms as numbers: the keys of all batches, one after another, count from 0,
 * and from 0 again where a batch is a first one.
 */
export interface ReadBatch {
  isFirst: boolean
  /** Terms that came up for the first time: their bytes one after another, and of each its length and hash. */
  keys: Uint8Array
  keyLengths: Uint8Array
  keyHashes: Uint32Array
  /** Of each document, in the order of the files and their lines; titles and summaries: only the last of a file. */
  groups: Uint32Array
  kinds: Uint8Array
  seqs: Uint32Array
  offsets: Uint32Array
  times: Float64Array
  /** How many of `terms` are its own. */
  counts: Uint32Array
  /** The terms of all documents, one after another, each as often as it occurs. */
  terms: Uint32Array
  /** Files that end in this batch. */
  files: readonly ReadFile[]
}

/** Work for an index that takes its time. */
export interface BackgroundJobs extends Background {
  /**
   * In the order given, each file ended by its ReadFile unless it throws; a batch has some 65,536 terms. The next one is
   * made while the last one is used.
   */
  readFiles(files: readonly FileToRead[], signal: AbortSignal): AsyncGenerator<ReadBatch>
  /** As saveCheckpoint(); settles when nothing is written any more, stopped or not. */
  save(place: CheckpointPlace, parts: readonly PartToSave[], signal: AbortSignal): Promise<string[]>
  /** As loadCheckpoint(). */
  load(place: CheckpointPlace, signal: AbortSignal): Promise<SavedPart[] | undefined>
}

/** They are done beside the thread that answers, as long as this is not disposed. */
export interface IndexBackground extends BackgroundJobs, AsyncDisposable {}

/**
 * What a worker runs: the text of the program in the binary and the package, its file from source; undefined where there
 * is none, then everything is done in this thread.
 */
export type WorkerSource = () => Promise<string | URL | undefined>
