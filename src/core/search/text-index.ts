import type { Part } from './checkpoint/types.ts'
import type { Background, IndexParts } from './parts.ts'
import type { DocumentRow, TextHit, TextQuery } from './types.ts'

export interface TextIndexOptions {
  /** Absent: segments are made in this thread, at once. */
  background?: Background
  /** Weights that queries usually have, by kind: pruning is made for them, others work as well. Absent: 1. */
  weights?: readonly number[]
  /** Documents of the tail after which it is sealed; of a segment at most. For tests. */
  tailDocuments?: number
  segmentDocuments?: number
}

/** What of groups is needed to score them as a whole. */
export interface GroupTerms {
  /** Of each distinct term of the query that occurs, in the order they first stand in it: ln((N - df + 0.5) / (df + 0.5) + 1). */
  idf: readonly number[]
  groups: readonly {
    group: number
    /** Terms of all its live documents. */
    length: number
    /** Of each term of `idf`: how often it occurs in them. */
    counts: readonly number[]
  }[]
}

export interface TextIndexStats {
  /** Live ones. */
  documents: number
  /** Distinct terms ever seen. */
  terms: number
  segments: number
  /** Documents that are not in segments yet, with dead ones. */
  tailDocuments: number
  /** Of all arrays, which are no part of the JavaScript heap. */
  bytes: number
}

/** An index over documents that knows nothing of what they are (RFC 0150, RFC 0185). Their text is not kept. */
export class TextIndex {
  constructor(options?: TextIndexOptions) {
    void options
  }

  /** Adds a document; found by the next search. */
  add(row: DocumentRow, text: string): void {
    void [row, text]
  }

  /** Adds a document whose terms, ids from internTerm(), are `terms` from `from` on, `count` of them, in their order. */
  addTerms(row: DocumentRow, terms: Uint32Array, from: number, count: number): void {
    void [row, terms, from, count]
  }

  /** The id of a term: `length` bytes of UTF-8 at most 255, with their hash, any that is always the same for the same bytes. */
  internTerm(bytes: Uint8Array, from: number, length: number, hash: number): number {
    void [bytes, from, length, hash]
    return 0
  }

  /** Removes all documents of groups. */
  removeGroups(groups: Iterable<number>): void {
    void groups
  }

  /** Removes the documents of one kind of a group: a title that changed. */
  removeDocuments(group: number, kind: number): void {
    void [group, kind]
  }

  /** Best first. */
  search(query: TextQuery): TextHit[] {
    void query
    return []
  }

  groupTerms(text: string, groups: Iterable<number>): GroupTerms {
    void [text, groups]
    return { idf: [], groups: [] }
  }

  /**
   * The index as it is at the moment of the call, with everything in segments; the promise is there because a segment
   * may be made in a worker. What is added or removed meanwhile is not in it.
   */
  sealNow(): Promise<IndexParts> {
    throw new Error('not yet')
  }

  /** Resolves when nothing is sealed or merged any more. */
  settle(): Promise<void> {
    return Promise.resolve()
  }

  get stats(): TextIndexStats {
    return { documents: 0, terms: 0, segments: 0, tailDocuments: 0, bytes: 0 }
  }

  /** Lengths, order and ranges are checked; fails with `invalid` when they are not those of an index. */
  static restore(
    parts: { dictionary: Part; segments: readonly Part[]; state: Part },
    options?: TextIndexOptions,
  ): TextIndex {
    void parts
    return new TextIndex(options)
  }
}
