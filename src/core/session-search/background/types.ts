import type { CheckpointPlace, PartToSave, SavedPart } from '../../search/checkpoint/types.ts'
import type { Background } from '../../search/parts.ts'
import type { FileStamp } from '../../storage/session-reader.ts'
import type { Cursor, SessionHeader } from '../../storage/types.ts'

/** A session file, or what came behind a cursor, that is to be indexed. */
export interface FileToRead {
  /** Ordinal of the session in the index. */
  group: number
  path: string
  /** Absent: from its beginning. */
  since?: Cursor
}

/** How far a file was read. All documents of the session up to `cursor` are in this batch or came before it. */
export interface ReadFile {
  group: number
  /** Undefined when there is no such file, or it cannot be read: `problem` then says why. */
  header: SessionHeader | undefined
  /** Behind its last whole line. */
  cursor: Cursor
  /** Of before it was read. */
  stamp: FileStamp | undefined
  /**
   * The cursor given does not fit the file: it was replaced, or cut. Nothing of it was read; remove the session, and
   * have it read from its beginning under another ordinal.
   */
  changed: boolean
  problem?: string
}

/**
 * Documents of session files with their terms as numbers.
 *
 * A term's number holds for one run of readFiles(): the keys of all its batches, one after another, count from 0.
 */
export interface ReadBatch {
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

/**
 * What is done beside the thread that answers: in a worker that starts when there is work and ends when there is none,
 * or, where no worker can run, in this thread in slices.
 */
export interface IndexBackground extends Background, AsyncDisposable {
  /** In the order given; a batch is at most some 500 KB. The next one is made while the last one is used. */
  readFiles(files: readonly FileToRead[], signal: AbortSignal): AsyncIterable<ReadBatch>
  /** As saveCheckpoint(). */
  save(place: CheckpointPlace, parts: readonly PartToSave[], signal: AbortSignal): Promise<string[]>
  /** As loadCheckpoint(). */
  load(place: CheckpointPlace, signal: AbortSignal): Promise<SavedPart[] | undefined>
}

/**
 * What indexes batches, used by who owns the index: see index-files.ts.
 *
 * `openBackground({ worker, log })` in open-background.ts makes an IndexBackground; `worker` is NodeOptions.searchWorker:
 * `() => Promise<string | URL | undefined>`, what a worker runs: a source text in the binary and the package, a file
 * from source, undefined where there is none (then everything is done in this thread).
 */
export type WorkerSource = () => Promise<string | URL | undefined>
