import { emptyBits, hasBit, setBit } from './bits.ts'
import type { SegmentSize } from './merge-policy.ts'
import type { DocumentColumns, Segment } from './parts.ts'
import { findId, seek } from './postings.ts'
import type { Tail } from './tail.ts'

/** Documents that are searched together: a tail or a segment, and which of them were removed. */
export interface Holding {
  /** One of both. */
  readonly tail?: Tail
  readonly segment?: Segment
  /** A bit for each document; 1 is dead. */
  dead: Uint8Array
  deadCount: number
  /** Of a segment, once runsOf() was asked. */
  runs?: GroupRuns
}

/** Neighbouring documents of one group: those of `groups[i]` are `starts[i]` to `starts[i + 1]`. */
export interface GroupRuns {
  groups: Uint32Array
  starts: Uint32Array
}

/** Which documents are meant: of these groups, and of one kind where it is given. */
export interface Doomed {
  groups: ReadonlySet<number>
  kind: number | undefined
}

/** A segment, and which of its documents were removed. */
export interface Sealed extends Holding {
  readonly segment: Segment
}

/** `capacity`: documents that the tail will have at most. */
export function holdTail(tail: Tail, capacity: number): Holding {
  return { tail, dead: emptyBits(capacity), deadCount: 0 }
}

export function holdSegment(segment: Segment): Sealed {
  return { segment, dead: emptyBits(segment.facts.documents), deadCount: 0 }
}

export function segmentSize(holding: Sealed): SegmentSize {
  const { facts, arrays } = holding.segment
  return { documents: facts.documents, live: liveCount(holding), postings: arrays.docs.length }
}

export function documentsOf({ tail, segment }: Holding): number {
  return tail ? tail.documents : segment!.facts.documents
}

export function columnsOf({ tail, segment }: Holding): DocumentColumns {
  return tail ? tail.columns : segment!.arrays
}

/** Which groups stand where: a session's documents stand together, but for those that several wrote at once. */
export function runsOf(holding: Holding): GroupRuns {
  if (holding.tail) return findRuns(holding)
  holding.runs ??= findRuns(holding)
  return holding.runs
}

function findRuns(holding: Holding): GroupRuns {
  const columns = columnsOf(holding)
  const documents = documentsOf(holding)
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

export function liveCount(holding: Holding): number {
  return documentsOf(holding) - holding.deadCount
}

/** Marks documents dead and takes them out of `frequencies`. Gives how many there were, and of how many terms. */
export function removeFrom(
  holding: Holding,
  doomed: Doomed,
  frequencies: Uint32Array,
): { documents: number; length: number } {
  const found = findDoomed(holding, doomed)
  if (found.length === 0) return { documents: 0, length: 0 }
  const { lengths } = columnsOf(holding)
  let length = 0
  for (const doc of found) {
    setBit(holding.dead, doc)
    length += lengths[doc]!
  }
  holding.deadCount += found.length
  uncount(holding, found, frequencies)
  return { documents: found.length, length }
}

function findDoomed(holding: Holding, { groups, kind }: Doomed): number[] {
  const columns = columnsOf(holding)
  const documents = documentsOf(holding)
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
export function uncount({ tail, segment }: Holding, docs: readonly number[], frequencies: Uint32Array): void {
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
export interface List {
  docs: Uint16Array
  counts: Uint8Array
  from: number
  to: number
  /** Its place among the segment's terms; -1 in a tail. */
  place: number
}

/** The postings of a term in a holding; undefined when there are none. */
export function listOf({ tail, segment }: Holding, id: number): List | undefined {
  if (tail) {
    const postings = tail.postings(id)
    return postings && { ...postings, from: 0, to: postings.docs.length, place: -1 }
  }
  const { terms, starts, docs, counts } = segment!.arrays
  const place = findId(terms, id)
  return place < 0 ? undefined : { docs, counts, from: starts[place]!, to: starts[place + 1]!, place }
}
