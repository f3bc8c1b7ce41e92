/**
 * What is searched: a message, a title, a memory entry. Its text is not kept.
 *
 * A group is what hits are collapsed to and removed by: a session, or a memory entry.
 */
export interface DocumentRow {
  /** Ordinal of its group; the caller's, small, never given twice. */
  group: number
  /** What it is, 0 to 7: chooses its weight in a query. */
  kind: number
  /** Place in its group: `seq` of a message; 0 for what has none. Below 2 ** 32. */
  seq: number
  /** Byte at which its line begins in the group's file; NO_OFFSET when nobody can tell. */
  offset: number
  /** Milliseconds since 1970. */
  time: number
}

export const NO_OFFSET = 0xffff_ffff

/** BM25 (RFC 0150): saturation of term counts, and how much the length of a document counts. */
export const K1 = 1.2
export const B = 0.75

/** Occurrences of a term in one document count up to this. */
export const MAX_TERM_COUNT = 255
/** Terms of one document count up to this. */
export const MAX_DOCUMENT_TERMS = 65_535

/** What a search asks for. */
export interface TextQuery {
  /** Words in any order; each that occurs counts, once. */
  text: string
  /** Hits, or with `collapse` groups, at most. */
  limit: number
  /** By kind; absent: 1 for every kind. What has the weight 0 is not found. */
  weights?: readonly number[]
  /** Which groups are searched; absent: all. Asked at most once for each group. */
  accepts?: (group: number) => boolean
  /** Documents from this time on, and before that one; milliseconds since 1970. */
  since?: number
  until?: number
  /** Only the best document of each group, chosen after weighting. */
  collapse?: boolean
}

/** A document that matches. */
export interface TextHit extends DocumentRow {
  /**
   * weight(kind) × the sum, over the query's distinct terms in the order they first stand in it, of
   * ln((N - df + 0.5) / (df + 0.5) + 1) × (K1 + 1) × tf / (tf + K1 × (1 - B + B × length / average length)),
   * over the live documents of the whole index, to the last bit.
   *
   * Of equal scores the later `time` is first, then the higher `seq`, then the higher `group`, then the higher `kind`.
   */
  score: number
}
