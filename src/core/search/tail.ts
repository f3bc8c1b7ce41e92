import type { Bounds, DocumentColumns, FrozenTail } from './parts.ts'
import { sharedArray, withRoom } from './shared-arrays.ts'
import { type DocumentRow, MAX_DOCUMENT_TERMS, MAX_TERM_COUNT } from './types.ts'

/** The postings of one term in ascending document order. */
export interface Postings {
  docs: Uint16Array
  counts: Uint8Array
}

/**
 * The newest documents of an index, to which more are added.
 *
 * Postings are cells in insertion order, so those of one document are adjacent; each links to the previous
 * cell of the same term. Terms have local numbers here, dense from 0.
 */
export class Tail {
  documents = 0
  readonly columns: DocumentColumns
  #cells = 0
  #terms = 0
  #firstCells = sharedArray(Uint32Array, 64)
  #cellTerms = sharedArray(Uint32Array, 256)
  #cellCounts = sharedArray(Uint8Array, 256)
  #cellDocs = sharedArray(Uint16Array, 256)
  #cellsBefore = sharedArray(Uint32Array, 256)
  /** By local number: the term id, the number of cells, and the last cell. */
  #termIds = sharedArray(Uint32Array, 128)
  #listLengths = sharedArray(Uint32Array, 128)
  #lastCells = sharedArray(Uint32Array, 128)
  /** The local number by term id; valid only if `#termIds` maps it back to that id. */
  #locals: Uint32Array

  /** Creates an empty tail; `terms` is the current number of terms in the dictionary. */
  constructor(terms: number) {
    this.#locals = new Uint32Array(Math.max(128, Math.ceil(terms * 1.25)))
    this.columns = {
      lengths: sharedArray(Uint16Array, 64),
      kinds: sharedArray(Uint8Array, 64),
      groups: sharedArray(Uint32Array, 64),
      seqs: sharedArray(Uint32Array, 64),
      offsets: sharedArray(Uint32Array, 64),
      times: sharedArray(Float64Array, 64),
    }
  }

  /** The number of postings. */
  get cells(): number {
    return this.#cells
  }

  /** The size of all arrays together. */
  get bytes(): number {
    const cells = [this.#cellTerms, this.#cellCounts, this.#cellDocs, this.#cellsBefore, this.#firstCells]
    const terms = [this.#termIds, this.#listLengths, this.#lastCells, this.#locals]
    return [...cells, ...terms, ...Object.values(this.columns)].reduce(
      (sum, array) => sum + array.byteLength,
      0,
    )
  }

  /** Adds a document with at most MAX_DOCUMENT_TERMS terms, in their order. */
  add(row: DocumentRow, terms: Uint32Array, from: number, count: number): void {
    const doc = this.#addRow(row, count)
    this.#makeRoom(count)
    const cellCounts = this.#cellCounts
    for (let i = from; i < from + count; i++) {
      const id = terms[i]!
      const local = this.#local(id)
      const length = this.#listLengths[local]!
      const last = this.#lastCells[local]!
      if (length > 0 && this.#cellDocs[last] === doc) {
        if (cellCounts[last]! < MAX_TERM_COUNT) cellCounts[last]!++
        continue
      }
      const cell = this.#cells++
      this.#cellTerms[cell] = local
      this.#cellDocs[cell] = doc
      this.#cellsBefore[cell] = last
      cellCounts[cell] = 1
      this.#lastCells[local] = cell
      this.#listLengths[local] = length + 1
    }
    this.#firstCells[doc + 1] = this.#cells
  }

  #addRow(row: DocumentRow, count: number): number {
    const doc = this.documents++
    const { columns } = this
    if (doc === columns.lengths.length) {
      columns.lengths = withRoom(columns.lengths, doc + 1)
      columns.kinds = withRoom(columns.kinds, doc + 1)
      columns.groups = withRoom(columns.groups, doc + 1)
      columns.seqs = withRoom(columns.seqs, doc + 1)
      columns.offsets = withRoom(columns.offsets, doc + 1)
      columns.times = withRoom(columns.times, doc + 1)
    }
    this.#firstCells = withRoom(this.#firstCells, doc + 2)
    columns.lengths[doc] = Math.min(count, MAX_DOCUMENT_TERMS)
    columns.kinds[doc] = row.kind
    columns.groups[doc] = row.group
    columns.seqs[doc] = row.seq
    columns.offsets[doc] = row.offset
    columns.times[doc] = row.time
    return doc
  }

  #makeRoom(count: number): void {
    const cells = this.#cells + count
    this.#cellTerms = withRoom(this.#cellTerms, cells)
    this.#cellCounts = withRoom(this.#cellCounts, cells)
    this.#cellDocs = withRoom(this.#cellDocs, cells)
    this.#cellsBefore = withRoom(this.#cellsBefore, cells)
  }

  #local(id: number): number {
    if (id >= this.#locals.length) {
      const longer = new Uint32Array(Math.max(id + 1, this.#locals.length * 2))
      longer.set(this.#locals)
      this.#locals = longer
    }
    const known = this.#locals[id]!
    if (known < this.#terms && this.#termIds[known] === id) return known
    const local = this.#terms++
    this.#termIds = withRoom(this.#termIds, local + 1)
    this.#listLengths = withRoom(this.#listLengths, local + 1)
    this.#lastCells = withRoom(this.#lastCells, local + 1)
    this.#termIds[local] = id
    this.#locals[id] = local
    return local
  }

  /** Returns a copy of the postings of a term; undefined when it has none. */
  postings(id: number): Postings | undefined {
    const local = this.#locals[id]
    if (local === undefined || local >= this.#terms || this.#termIds[local] !== id) return undefined
    const length = this.#listLengths[local]!
    const docs = new Uint16Array(length)
    const counts = new Uint8Array(length)
    let cell = this.#lastCells[local]!
    for (let i = length - 1; i >= 0; i--) {
      docs[i] = this.#cellDocs[cell]!
      counts[i] = this.#cellCounts[cell]!
      cell = this.#cellsBefore[cell]!
    }
    return { docs, counts }
  }

  /** Adds `by` to the number of each distinct term of a document. */
  count(doc: number, numbers: Uint32Array, by: number): void {
    const end = this.#firstCells[doc + 1]!
    for (let cell = this.#firstCells[doc]!; cell < end; cell++) {
      numbers[this.#termIds[this.#cellTerms[cell]!]!]! += by
    }
  }

  /** Returns the input of sealTail(). The tail must not receive documents afterwards. */
  freeze(bounds: Bounds): FrozenTail {
    return {
      bounds,
      documents: this.documents,
      cells: this.#cells,
      terms: this.#terms,
      columns: this.columns,
      firstCells: this.#firstCells,
      cellTerms: this.#cellTerms,
      cellCounts: this.#cellCounts,
      termIds: this.#termIds,
      listLengths: this.#listLengths,
    }
  }
}
