/**
 * A searchable document: a message, a title, a memory entry. Its text is not kept.
 *
 * Hits are collapsed and documents removed by group: a session, or a memory entry.
 */
export interface DocumentRow {
  /** The ordinal of its group, assigned by the caller: small, never reused. */
  group: number
  /** The kind of document, 0 to 7; selects its weight in a query. */
  kind: number
  /** The position in its group: the `seq` of a message, 0 for other documents. Below 2 ** 32. */
  seq: number
  /** The byte offset of its line in the group's file; NO_OFFSET when unknown. */
  offset: number
  /** Milliseconds since 1970. */
  time: number
}

/** The offset of a document whose place in a file is unknown. */
export const NO_OFFSET = 0xffff_ffff

/** BM25 parameters: the saturation of term counts, and the influence of document length. */
export const K1 = 1.2
export const B = 0.75

/** The maximum counted occurrences of a term in one document. */
export const MAX_TERM_COUNT = 255
/** The maximum counted terms of one document. */
export const MAX_DOCUMENT_TERMS = 65_535

/** A query and its filters. */
export interface TextQuery {
  /** Words in any order; each word that occurs adds to the score, once. */
  text: string
  /** The maximum number of hits, or of groups with `collapse`. */
  limit: number
  /** The weight of each kind; 1 when absent. A kind with weight 0 is not found. */
  weights?: readonly number[]
  /** Whether a group is searched; absent: all are. Called at most once per group. */
  accepts?: (group: number) => boolean
  /** The start (inclusive) and end (exclusive) of the time range, in milliseconds since 1970. */
  since?: number
  until?: number
  /** Whether to return only the best document of each group, chosen after weighting. */
  collapse?: boolean
}

/** A document that matches a query. */
export interface TextHit extends DocumentRow {
  /**
   * weight(kind) × the sum, over the distinct query terms in order of first occurrence, of
   * ln((N - df + 0.5) / (df + 0.5) + 1) × (K1 + 1) × tf / (tf + K1 × (1 - B + B × length / average length)),
   * over the live documents of the whole index, exact to the last bit.
   *
   * Ties put the later `time` first, then the higher `seq`, then the higher `group`, then the higher `kind`.
   */
  score: number
}
