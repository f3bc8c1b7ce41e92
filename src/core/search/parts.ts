import type { CheckpointPart } from './checkpoint/types.ts'

/** Documents of one segment and of one tail at most; their numbers fit into 16 bits. */
export const MAX_SEGMENT_DOCUMENTS = 65_536
/** Kinds of documents, 0 to 7. */
export const DOCUMENT_KIND_COUNT = 8
/** Postings to a block; lists that are longer have block maxima. */
export const BLOCK = 128

/** What block maxima are made for. */
export interface Bounds {
  averageLength: number
  /** Of every kind. */
  weights: Float64Array
}

/** What is known of documents, by their numbers. All arrays of the index are views of SharedArrayBuffers. */
export type DocumentColumns = {
  lengths: Uint16Array
  kinds: Uint8Array
  groups: Uint32Array
  seqs: Uint32Array
  offsets: Uint32Array
  times: Float64Array
}

/**
 * Documents and their postings, never changed.
 *
 * `terms` are the ids that occur, ascending; the postings of `terms[i]` are `docs` and `counts` from `starts[i]` to
 * `starts[i + 1]`, ascending by document. `long` are the i of lists longer than BLOCK; the maxima of the blocks of
 * `long[j]` are `maxima` from `maximaStarts[j]` to `maximaStarts[j + 1]`: an upper bound of weight × tf / (tf + …) for
 * the weights in `weights` and the average length in `facts`.
 */
export interface Segment extends CheckpointPart {
  facts: { documents: number; averageLength: number }
  arrays: DocumentColumns & {
    weights: Float64Array
    terms: Uint32Array
    starts: Uint32Array
    docs: Uint16Array
    counts: Uint8Array
    long: Uint32Array
    maximaStarts: Uint32Array
    maxima: Float32Array
  }
}

/**
 * A tail that gets no more documents, as it goes to a worker.
 *
 * Cells are its postings in the order they came; the cells of document d are those from `firstCells[d]` to
 * `firstCells[d + 1]`. `cellTerms` are local numbers of terms, `termIds` what they are in the dictionary,
 * `listLengths` the number of cells of each.
 */
export interface FrozenTail {
  bounds: Bounds
  documents: number
  cells: number
  terms: number
  columns: DocumentColumns
  firstCells: Uint32Array
  cellTerms: Uint32Array
  cellCounts: Uint8Array
  termIds: Uint32Array
  listLengths: Uint32Array
}

/** Segments to be made one, without their dead documents. */
export interface MergeJob {
  bounds: Bounds
  /** Together at most MAX_SEGMENT_DOCUMENTS live documents. `dead` has a bit for each document; 1 is dead. */
  parts: readonly { segment: Segment; dead: Uint8Array }[]
}

/**
 * Where segments are made: a worker, or this thread. A rejection is no loss: the index then does it in this thread, but
 * for `cancelled`: whoever closes it wants no more segments.
 */
export interface Background {
  seal(tail: FrozenTail): Promise<Segment>
  merge(job: MergeJob): Promise<Segment>
}

/**
 * An index as it is saved: exactly what was in it when TextIndex.sealNow() was called.
 *
 * A segment is the same object as long as it is unchanged, so that it need not be saved again; the dictionary only grows;
 * the state has the dead documents of each segment and is small.
 */
export interface IndexParts {
  dictionary: CheckpointPart
  segments: readonly Segment[]
  state: CheckpointPart
}
