import type { CheckpointPart } from './checkpoint/types.ts'

/** The maximum number of documents in a segment or tail; document numbers fit into 16 bits. */
export const MAX_SEGMENT_DOCUMENTS = 65_536
/** The number of document kinds; kinds are 0 to 7. */
export const DOCUMENT_KIND_COUNT = 8
/** The number of postings per block. Lists longer than a block have block maxima. */
export const BLOCK = 128

/** The average length and weights that block maxima are computed for. */
export interface Bounds {
  averageLength: number
  /** The weight of each kind. */
  weights: Float64Array
}

/** The fields of documents, by document number. All arrays of the index are views of SharedArrayBuffers. */
export type DocumentColumns = {
  lengths: Uint16Array
  kinds: Uint8Array
  groups: Uint32Array
  seqs: Uint32Array
  offsets: Uint32Array
  times: Float64Array
}

/**
 * An immutable set of documents and their postings.
 *
 * `terms` are the ids that occur, ascending. The postings of `terms[i]` are `docs` and `counts` from
 * `starts[i]` to `starts[i + 1]`, ascending by document. `long` holds each i whose list is longer than BLOCK.
 * The block maxima of `long[j]` are `maxima` from `maximaStarts[j]` to `maximaStarts[j + 1]`: upper bounds of
 * weight × tf / (tf + …) for the weights in `weights` and the average length in `facts`.
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
 * A tail that receives no more documents, in the form that is sent to a worker.
 *
 * Cells are its postings in insertion order; the cells of document d are those from `firstCells[d]` to
 * `firstCells[d + 1]`. `cellTerms` are local term numbers, `termIds` maps these to dictionary ids, and
 * `listLengths` is the number of cells of each term.
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

/** Segments to merge into one without their removed documents. */
export interface MergeJob {
  bounds: Bounds
  /**
   * At most MAX_SEGMENT_DOCUMENTS live documents in total. `dead` has one bit per document; 1 means removed.
   */
  parts: readonly { segment: Segment; dead: Uint8Array }[]
}

/**
 * Builds segments elsewhere, usually in a worker. When it rejects, the index builds the segment in its own
 * thread; after `cancelled` (the index is being closed) it builds no more.
 */
export interface Background {
  seal(tail: FrozenTail): Promise<Segment>
  merge(job: MergeJob): Promise<Segment>
}

/**
 * A saved index: exactly its contents when TextIndex.sealNow() was called.
 *
 * An unchanged segment is the same object as in earlier saves, so it need not be saved again. The dictionary
 * only grows. The state holds the removed documents of each segment and is small.
 */
export interface IndexParts {
  dictionary: CheckpointPart
  segments: readonly Segment[]
  state: CheckpointPart
}
