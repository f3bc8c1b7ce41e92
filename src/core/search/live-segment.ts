import { emptyBits, hasBit, setBit } from './bits.ts'
import type { SegmentSize } from './merge-policy.ts'
import type { DocumentColumns, Segment } from './parts.ts'
import { findId, seek } from './postings.ts'
import type { Tail } from './tail.ts'

/** Documents that are searched together: a tail or a segment, and which of them were removed. */
export interface LiveSegment {
  /** One of both. */
  readonly tail?: Tail
  readonly segment?: Segment
  /** A bit for each document; 1 is dead. */
  dead: Uint8Array
  deadCount: number
  /** Of a segment, once groupRuns() was asked. */
  runs?: GroupRuns
}

/** Neighbouring documents of one group: those of `groups[i]` are `starts[i]` to `starts[i + 1]`. */
export interface GroupRuns {
  groups: Uint32Array
  starts: Uint32Array
}

/** Which documents are meant: of these groups, and of one kind where it is given. */
export interface RemovedDocuments {
  groups: ReadonlySet<number>
  kind: number | undefined
}

/** A segment, and which of its documents were removed. */
export interface SealedSegment extends LiveSegment {
  readonly segment: Segment
}

/** `capacity`: documents that the tail will have at most. */
export function toTailSegment(tail: Tail, capacity: number): LiveSegment {
  return { tail, dead: emptyBits(capacity), deadCount: 0 }
}

export function toSealedSegment(segment: Segment): SealedSegment {
  return { segment, dead: emptyBits(segment.facts.documents), deadCount: 0 }
}

export function segmentSize(holding: SealedSegment): SegmentSize {
  const { facts, arrays } = holding.segment
  return { documents: facts.documents, live: liveCount(holding), postings: arrays.docs.length }
}

export function countDocuments({ tail, segment }: LiveSegment): number {
  return tail ? tail.documents : segment!.facts.documents
}

export function documentColumns({ tail, segment }: LiveSegment): DocumentColumns {
  return tail ? tail.columns : segment!.arrays
}

/** Which groups stand where: a session's documents stand together, but for those that several wrote at once. */
export function groupRuns(holding: LiveSegment): GroupRuns {
  if (holding.tail) return findRuns(holding)
  holding.runs ??= findRuns(holding)
  return holding.runs
}

function findRuns(holding: LiveSegment): GroupRuns {
  const columns = documentColumns(holding)
  const documents = countDocuments(holding)
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

export function liveCount(holding: LiveSegment): number {
  return countDocuments(holding) - holding.deadCount
}

/** Marks documents dead and takes them out of `frequencies`. Gives how many there were, and of how many terms. */
export function removeFrom(
  holding: LiveSegment,
  doomed: RemovedDocuments,
  frequencies: Uint32Array,
): { documents: number; length: number } {
  const found = findRemoved(holding, doomed)
  if (found.length === 0) return { documents: 0, length: 0 }
  const { lengths } = documentColumns(holding)
  let length = 0
  for (const doc of found) {
    setBit(holding.dead, doc)
    length += lengths[doc]!
  }
  holding.deadCount += found.length
  uncount(holding, found, frequencies)
  return { documents: found.length, length }
}

function findRemoved(holding: LiveSegment, { groups, kind }: RemovedDocuments): number[] {
  const columns = documentColumns(holding)
  const documents = countDocuments(holding)
  const [only] = groups
  const found: number[] = []
  for (let doc = 0; doc < documents; doc++) {
    const group = columns.groups[doc]!
    if (group !== only && (groups.size === 1 || !groups.has(group))) continue
    if (kind !== undefined && columns.kinds[doc] !== kind) continue
    if (!hasBit(holding.dead, doc)) found.push(doc)
  }
  return found
}

/** Takes documents, ascending, out of the numbers of documents by term. */
export function uncount(
  { tail, segment }: LiveSegment,
  docs: readonly number[],
  frequencies: Uint32Array,
): void {
  if (tail) for (const doc of docs) tail.count(doc, frequencies, -1)
  else uncountSegment(segment!, docs, frequencies)
}

/** Only what stands between the first and the last of them is looked at in each list. */
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

/** Where postings of one term are. */
export interface PostingsList {
  docs: Uint16Array
  counts: Uint8Array
  from: number
  to: number
  /** Its place among the segment's terms; -1 in a tail. */
  place: number
}

/** The postings of a term in a holding; undefined when there are none. */
export function findPostings({ tail, segment }: LiveSegment, id: number): PostingsList | undefined {
  if (tail) {
    const postings = tail.postings(id)
    return postings && { ...postings, from: 0, to: postings.docs.length, place: -1 }
  }
  const { terms, starts, docs, counts } = segment!.arrays
  const place = findId(terms, id)
  return place < 0 ? undefined : { docs, counts, from: starts[place]!, to: starts[place + 1]!, place }
}
