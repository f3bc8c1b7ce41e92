import { hasBit } from './bits.ts'
import { computeMaxima } from './block-maxima.ts'
import type { DocumentColumns, MergeJob, Segment } from './parts.ts'
import { sharedArray } from './shared-arrays.ts'

/** The new number of a removed document. */
const REMOVED = -1

/**
 * Merges segments into one without their removed documents. Live documents keep their order, part after part.
 */
export function mergeSegments({ parts, bounds }: MergeJob): Segment {
  const renumbered = renumber(parts)
  const columns = mergeColumns(parts, renumbered)
  const lists = mergeLists(parts, renumbered)
  return {
    facts: { documents: columns.lengths.length, averageLength: bounds.averageLength },
    arrays: { ...columns, ...lists, ...computeMaxima(columns, lists, bounds) },
  }
}

/** Returns the new number of each document of each part. */
function renumber(parts: MergeJob['parts']): Int32Array[] {
  let next = 0
  return parts.map(({ segment, dead }) => {
    const numbers = new Int32Array(segment.facts.documents)
    for (let doc = 0; doc < numbers.length; doc++) numbers[doc] = hasBit(dead, doc) ? REMOVED : next++
    return numbers
  })
}

function mergeColumns(parts: MergeJob['parts'], renumbered: readonly Int32Array[]): DocumentColumns {
  const documents = renumbered.reduce((sum, numbers) => sum + countLive(numbers), 0)
  const columns: DocumentColumns = {
    lengths: sharedArray(Uint16Array, documents),
    kinds: sharedArray(Uint8Array, documents),
    groups: sharedArray(Uint32Array, documents),
    seqs: sharedArray(Uint32Array, documents),
    offsets: sharedArray(Uint32Array, documents),
    times: sharedArray(Float64Array, documents),
  }
  parts.forEach(({ segment: { arrays } }, part) => {
    renumbered[part]!.forEach((to, from) => {
      if (to === REMOVED) return
      columns.lengths[to] = arrays.lengths[from]!
      columns.kinds[to] = arrays.kinds[from]!
      columns.groups[to] = arrays.groups[from]!
      columns.seqs[to] = arrays.seqs[from]!
      columns.offsets[to] = arrays.offsets[from]!
      columns.times[to] = arrays.times[from]!
    })
  })
  return columns
}

function countLive(numbers: Int32Array): number {
  let live = 0
  for (const number of numbers) if (number !== REMOVED) live++
  return live
}

/** Merges the postings; drops terms whose documents are all removed. */
function mergeLists(parts: MergeJob['parts'], renumbered: readonly Int32Array[]) {
  const size = measure(parts)
  const terms = new Uint32Array(size.terms)
  const starts = new Uint32Array(size.terms + 1)
  const docs = new Uint16Array(size.postings)
  const counts = new Uint8Array(size.postings)
  const places = new Uint32Array(parts.length)
  let lists = 0
  let at = 0
  for (let term = lowestTerm(parts, places); term !== undefined; term = lowestTerm(parts, places)) {
    parts.forEach(({ segment: { arrays } }, part) => {
      const place = places[part]!
      if (arrays.terms[place] !== term) return
      places[part] = place + 1
      const numbers = renumbered[part]!
      for (let from = arrays.starts[place]!; from < arrays.starts[place + 1]!; from++) {
        const doc = numbers[arrays.docs[from]!]!
        if (doc === REMOVED) continue
        docs[at] = doc
        counts[at++] = arrays.counts[from]!
      }
    })
    if (at === starts[lists]) continue
    terms[lists++] = term
    starts[lists] = at
  }
  return {
    terms: truncateInto(terms, sharedArray(Uint32Array, lists)),
    starts: truncateInto(starts, sharedArray(Uint32Array, lists + 1)),
    docs: truncateInto(docs, sharedArray(Uint16Array, at)),
    counts: truncateInto(counts, sharedArray(Uint8Array, at)),
  }
}

/** Returns upper bounds of the number of terms and postings. */
function measure(parts: MergeJob['parts']): { terms: number; postings: number } {
  let terms = 0
  let postings = 0
  for (const { segment } of parts) {
    terms += segment.arrays.terms.length
    postings += segment.arrays.docs.length
  }
  return { terms, postings }
}

/** Returns the lowest of the parts' next terms; undefined at the end of all parts. */
function lowestTerm(parts: MergeJob['parts'], places: Uint32Array): number | undefined {
  let found: number | undefined
  for (let part = 0; part < parts.length; part++) {
    const term = parts[part]!.segment.arrays.terms[places[part]!]
    if (term !== undefined && (found === undefined || term < found)) found = term
  }
  return found
}

function truncateInto<T extends Uint8Array | Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from.subarray(0, to.length))
  return to
}
