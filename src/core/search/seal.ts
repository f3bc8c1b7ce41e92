import { computeMaxima } from './block-maxima.ts'
import type { DocumentColumns, FrozenTail, Segment } from './parts.ts'
import { type SharedArray, sharedArray } from './shared-arrays.ts'

/** Builds a segment from a frozen tail; documents keep their numbers. */
export function sealTail(tail: FrozenTail): Segment {
  const { documents, bounds } = tail
  const terms = sharedArray(Uint32Array, tail.terms)
  terms.set(tail.termIds.subarray(0, tail.terms))
  terms.sort()
  const columns = copyColumns(tail.columns, documents)
  const postings = { ...sortCells(tail, terms), terms }
  return {
    facts: { documents, averageLength: bounds.averageLength },
    arrays: { ...columns, ...postings, ...computeMaxima(columns, postings, bounds) },
  }
}

/** Groups the cells by term with a counting sort; within a term they stay in document order. */
function sortCells(tail: FrozenTail, terms: Uint32Array) {
  const { firstCells, cellTerms, cellCounts } = tail
  const { starts, next } = listStarts(tail, terms)
  const docs = sharedArray(Uint16Array, tail.cells)
  const counts = sharedArray(Uint8Array, tail.cells)
  for (let doc = 0; doc < tail.documents; doc++) {
    const end = firstCells[doc + 1]!
    for (let cell = firstCells[doc]!; cell < end; cell++) {
      const at = next[cellTerms[cell]!]!++
      docs[at] = doc
      counts[at] = cellCounts[cell]!
    }
  }
  return { starts, docs, counts }
}

/** Returns where the list of each term starts, by its index in `terms` and by its local number. */
function listStarts({ termIds, listLengths, terms: count }: FrozenTail, terms: Uint32Array) {
  const starts = sharedArray(Uint32Array, count + 1)
  const next = new Uint32Array(count)
  const locals = new Map<number, number>()
  for (let local = 0; local < count; local++) locals.set(termIds[local]!, local)
  for (let i = 0; i < count; i++) {
    const local = locals.get(terms[i]!)!
    next[local] = starts[i]!
    starts[i + 1] = starts[i]! + listLengths[local]!
  }
  return { starts, next }
}

function copyColumns(columns: DocumentColumns, documents: number): DocumentColumns {
  return {
    lengths: copy(columns.lengths, sharedArray(Uint16Array, documents)),
    kinds: copy(columns.kinds, sharedArray(Uint8Array, documents)),
    groups: copy(columns.groups, sharedArray(Uint32Array, documents)),
    seqs: copy(columns.seqs, sharedArray(Uint32Array, documents)),
    offsets: copy(columns.offsets, sharedArray(Uint32Array, documents)),
    times: copy(columns.times, sharedArray(Float64Array, documents)),
  }
}

function copy<T extends SharedArray>(from: T, to: T): T {
  to.set(from.subarray(0, to.length) as never)
  return to
}
