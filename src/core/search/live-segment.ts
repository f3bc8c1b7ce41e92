import { emptyBits, hasBit, setBit } from './bits.ts'
import type { SegmentSize } from './merge-policy.ts'
import type { DocumentColumns, Segment } from './parts.ts'
import { findId, seek } from './postings.ts'
import type { Tail } from './tail.ts'

/** Documents that are searched together, a tail or a segment, and which of them were removed. */
export interface LiveSegment {
  /** Exactly one of `tail` and `segment` is set. */
  readonly tail?: Tail
  readonly segment?: Segment
  /** One bit per document; 1 means removed. */
  dead: Uint8Array
  deadCount: number
  /** The result of groupRuns(), cached for segments. */
  runs?: GroupRuns
}

/**
 * Runs of adjacent documents of one group: those of `groups[i]` are `starts[i]` to `starts[i + 1]`
 * (exclusive).
 */
export interface GroupRuns {
  groups: Uint32Array
  starts: Uint32Array
}

/** Selects the documents of these groups, restricted to one kind when `kind` is set. */
export interface RemovedDocuments {
  groups: ReadonlySet<number>
  kind: number | undefined
}

/** A segment, and which of its documents were removed. */
export interface SealedSegment extends LiveSegment {
  readonly segment: Segment
}

/** Wraps a tail that will hold at most `capacity` documents. */
export function toTailSegment(tail: Tail, capacity: number): LiveSegment {
  return { tail, dead: emptyBits(capacity), deadCount: 0 }
}

/** Wraps a segment with no removed documents. */
export function toSealedSegment(segment: Segment): SealedSegment {
  return { segment, dead: emptyBits(segment.facts.documents), deadCount: 0 }
}

/** Returns the numbers of a segment that the merge policy needs. */
export function segmentSize(live: SealedSegment): SegmentSize {
  const { facts, arrays } = live.segment
  return { documents: facts.documents, live: liveCount(live), postings: arrays.docs.length }
}

/** Returns the number of documents, removed ones included. */
export function countDocuments({ tail, segment }: LiveSegment): number {
  return tail ? tail.documents : segment!.facts.documents
}

/** Returns the fields of the documents, by document number. */
export function documentColumns({ tail, segment }: LiveSegment): DocumentColumns {
  return tail ? tail.columns : segment!.arrays
}

/**
 * Finds the runs of each group. A session's documents form one run unless several sessions were written
 * simultaneously.
 */
export function groupRuns(live: LiveSegment): GroupRuns {
  if (live.tail) return findRuns(live)
  live.runs ??= findRuns(live)
  return live.runs
}

function findRuns(live: LiveSegment): GroupRuns {
  const columns = documentColumns(live)
  const documents = countDocuments(live)
  const groups: number[] = []
  const starts: number[] = []
  for (let doc = 0; doc < documents; doc++) {
    if (doc > 0 && columns.groups[doc] === columns.groups[doc - 1]) continue
    groups.push(columns.groups[doc]!)
    starts.push(doc)
  }
  starts.push(documents)
  return { groups: Uint32Array.from(groups), starts: Uint32Array.from(starts) }
}

/** Returns the number of documents that are not removed. */
export function liveCount(live: LiveSegment): number {
  return countDocuments(live) - live.deadCount
}

/**
 * Marks documents as removed and subtracts them from `frequencies`. Returns how many documents were removed,
 * and their total number of terms.
 */
export function removeFrom(
  live: LiveSegment,
  removal: RemovedDocuments,
  frequencies: Uint32Array,
): { documents: number; length: number } {
  const found = findRemoved(live, removal)
  if (found.length === 0) return { documents: 0, length: 0 }
  const { lengths } = documentColumns(live)
  let length = 0
  for (const doc of found) {
    setBit(live.dead, doc)
    length += lengths[doc]!
  }
  live.deadCount += found.length
  uncount(live, found, frequencies)
  return { documents: found.length, length }
}

function findRemoved(live: LiveSegment, { groups, kind }: RemovedDocuments): number[] {
  const columns = documentColumns(live)
  const documents = countDocuments(live)
  const [only] = groups
  const found: number[] = []
  for (let doc = 0; doc < documents; doc++) {
    const group = columns.groups[doc]!
    if (group !== only && (groups.size === 1 || !groups.has(group))) continue
    if (kind !== undefined && columns.kinds[doc] !== kind) continue
    if (!hasBit(live.dead, doc)) found.push(doc)
  }
  return found
}

/** Subtracts documents, in ascending order, from the number of documents per term. */
export function uncount(
  { tail, segment }: LiveSegment,
  docs: readonly number[],
  frequencies: Uint32Array,
): void {
  if (tail) for (const doc of docs) tail.count(doc, frequencies, -1)
  else uncountSegment(segment!, docs, frequencies)
}

/** Scans only the part of each list between the first and the last of the documents. */
function uncountSegment(
  { arrays, facts }: Segment,
  found: readonly number[],
  frequencies: Uint32Array,
): void {
  const { terms, starts, docs } = arrays
  const gone = emptyBits(facts.documents)
  for (const doc of found) setBit(gone, doc)
  const first = found[0]!
  const last = found.at(-1)!
  for (let list = 0; list < terms.length; list++) {
    const end = starts[list + 1]!
    for (let at = seek(docs, starts[list]!, end, first); at < end && docs[at]! <= last; at++) {
      if (hasBit(gone, docs[at]!)) frequencies[terms[list]!]!--
    }
  }
}

/** The location of the postings of one term. */
export interface PostingsList {
  docs: Uint16Array
  counts: Uint8Array
  from: number
  to: number
  /** The index of the term in the segment's terms; -1 in a tail. */
  place: number
}

/** Returns the postings of a term in a live segment; undefined when there are none. */
export function findPostings({ tail, segment }: LiveSegment, id: number): PostingsList | undefined {
  if (tail) {
    const postings = tail.postings(id)
    return postings && { ...postings, from: 0, to: postings.docs.length, place: -1 }
  }
  const { terms, starts, docs, counts } = segment!.arrays
  const place = findId(terms, id)
  return place < 0 ? undefined : { docs, counts, from: starts[place]!, to: starts[place + 1]!, place }
}
