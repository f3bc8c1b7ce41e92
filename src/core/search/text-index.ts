import { CrabError } from '../base/errors.ts'
import { BestHits } from './best-hits.ts'
import { hasBit } from './bits.ts'
import { inverseFrequency } from './bm25.ts'
import type { CheckpointPart } from './checkpoint/types.ts'
import { Collection, type SegmentJob } from './collection.ts'
import { Dictionary } from './dictionary.ts'
import { evaluate, windowBuffers } from './evaluate.ts'
import { countGroups, type GroupCounts } from './group-terms.ts'
import {
  countDocuments,
  documentColumns,
  liveCount,
  type RemovedDocuments,
  removeFrom,
} from './live-segment.ts'
import { mergeSegments } from './merge.ts'
import {
  type Background,
  type Bounds,
  DOCUMENT_KIND_COUNT,
  type IndexParts,
  MAX_SEGMENT_DOCUMENTS,
  type Segment,
} from './parts.ts'
import { toFilter } from './query.ts'
import { encodeDead, restoreSegments } from './restore.ts'
import { sealTail } from './seal.ts'
import { CharacterTable } from './terms/characters.ts'
import { TermBuffer } from './terms/term-buffer.ts'
import { type DocumentRow, K1, MAX_DOCUMENT_TERMS, type TextHit, type TextQuery } from './types.ts'

/**
 * The size of one window, because a tail is searched without block maxima, and its lists are not contiguous.
 */
const TAIL_DOCUMENTS = 4096
/** The numbers of postings at which a tail and a segment are full, however few documents they have. */
const TAIL_POSTINGS = 2 ** 22
const SEGMENT_POSTINGS = 2 ** 24

/** The settings of an index, all optional. */
export interface TextIndexOptions {
  /** Absent: segments are built synchronously in this thread. */
  background?: Background
  /** The usual weights of queries, by kind: pruning is tuned for them, others work as well. Absent: 1. */
  weights?: readonly number[]
  /** The number of documents at which the tail is sealed, and the maximum of a segment. For tests. */
  tailDocuments?: number
  segmentDocuments?: number
}

/** The term counts needed to score groups as a whole. */
export interface GroupTerms {
  /**
   * ln((N - df + 0.5) / (df + 0.5) + 1) of each distinct query term that occurs, in order of first
   * occurrence.
   */
  idf: readonly number[]
  /** In the order of the `groups` argument; `counts` is parallel to `idf`. */
  groups: readonly GroupCounts[]
}

/** The size of an index. */
export interface TextIndexStats {
  /** The number of live documents. */
  documents: number
  /** The total number of terms in live documents, repetitions included. */
  length: number
  /** The number of distinct terms ever added. */
  terms: number
  segments: number
  /** The number of documents that are not in a segment yet, removed ones included. */
  tailDocuments: number
  /** The size of the arrays of segments, tail and dictionary, which are outside the JavaScript heap. */
  bytes: number
}

/** A BM25 index over documents whose meaning it does not know. It does not keep their text (ADR 0122). */
export class TextIndex {
  readonly #background: Background | undefined
  readonly #weights: Float64Array
  readonly #tailDocuments: number
  readonly #dictionary: Dictionary
  readonly #collection: Collection
  /** The character table its texts are read with. */
  readonly characters = new CharacterTable()
  readonly #buffer = new TermBuffer(this.characters)
  readonly #windows = windowBuffers()
  #ids = new Uint32Array(256)
  /** The number of live documents, and of terms in them. */
  #documents = 0
  #length = 0
  #running: Promise<void> | undefined

  constructor(options: TextIndexOptions = {}, restored?: Parameters<typeof TextIndex.restore>[0]) {
    this.#background = options.background
    this.#weights = toWeights(options.weights)
    this.#tailDocuments = options.tailDocuments ?? TAIL_DOCUMENTS
    this.#dictionary = restored ? Dictionary.fromPart(restored.dictionary) : new Dictionary()
    this.#collection = new Collection({
      tailDocuments: this.#tailDocuments,
      countTerms: () => this.#dictionary.size,
      limits: { documents: options.segmentDocuments ?? MAX_SEGMENT_DOCUMENTS, postings: SEGMENT_POSTINGS },
      sealed: restored ? restoreSegments(restored.segments, restored.state, this.#dictionary) : [],
    })
    for (const live of this.#collection.sealed) {
      this.#documents += liveCount(live)
      this.#length += liveLength(live)
    }
  }

  /** Adds a document; the next search finds it. */
  add(row: DocumentRow, text: string): void {
    const buffer = this.#buffer
    buffer.fill(text, 'document')
    if (buffer.count > this.#ids.length) this.#ids = new Uint32Array(buffer.count * 2)
    for (let i = 0; i < buffer.count; i++) {
      this.#ids[i] = this.#dictionary.intern(
        buffer.bytes,
        buffer.starts[i]!,
        buffer.ends[i]!,
        buffer.hashes[i]!,
      )
    }
    this.addTerms(row, this.#ids, 0, buffer.count)
  }

  /**
   * Adds a document from term ids of internTerm(): `count` items of `terms` starting at `from`, in document
   * order. Ignores terms beyond MAX_DOCUMENT_TERMS.
   */
  addTerms(row: DocumentRow, terms: Uint32Array, from: number, count: number): void {
    const length = Math.min(count, MAX_DOCUMENT_TERMS)
    const tail = this.#collection.tail.tail!
    tail.add(row, terms, from, length)
    tail.count(tail.documents - 1, this.#dictionary.frequencies, 1)
    this.#documents++
    this.#length += length
    if (tail.documents < this.#tailDocuments && tail.cells < TAIL_POSTINGS) return
    this.#collection.freeze(this.#bounds())
    this.#runJobs()
  }

  /** Returns the id of a term, adding it if new: `length` bytes of UTF-8, and the hash from `hashTerm`. */
  internTerm(bytes: Uint8Array, from: number, length: number, hash: number): number {
    return this.#dictionary.intern(bytes, from, from + length, hash)
  }

  /** Removes all documents of the groups. */
  removeGroups(groups: Iterable<number>): void {
    this.#remove({ groups: new Set(groups), kind: undefined })
  }

  /** Removes the documents of one kind from a group, for example a title that changed. */
  removeDocuments(group: number, kind: number): void {
    this.#remove({ groups: new Set([group]), kind })
  }

  #remove(removal: RemovedDocuments): void {
    if (removal.groups.size === 0) return
    for (const live of this.#collection.holdings) {
      const removed = removeFrom(live, removal, this.#dictionary.frequencies)
      this.#documents -= removed.documents
      this.#length -= removed.length
    }
    this.#runJobs()
  }

  /** Returns the hits, best first. */
  search(query: TextQuery): TextHit[] {
    const ids = query.limit > 0 ? this.#findTerms(query.text) : []
    if (ids.length === 0) return []
    const weights = toWeights(query.weights)
    const prepared = {
      ids,
      factors: ids.map((id) => this.#inverseFrequency(id) * (K1 + 1)),
      averageLength: this.#averageLength,
      weights,
      heaviest: Math.max(...weights),
      accepts: toFilter(query),
    }
    const best = new BestHits(query.limit, query.collapse ?? false)
    for (const live of this.#collection.holdings) evaluate(live, prepared, { best, buffers: this.#windows })
    return best.hits
  }

  /** Counts the query terms in whole groups, to score groups instead of documents. */
  groupTerms(text: string, groups: Iterable<number>): GroupTerms {
    const ids = this.#findTerms(text)
    const counts = new Map<number, GroupCounts>()
    for (const group of groups) counts.set(group, { group, length: 0, counts: ids.map(() => 0) })
    for (const live of this.#collection.holdings) countGroups(live, ids, counts)
    return { idf: ids.map((id) => this.#inverseFrequency(id)), groups: [...counts.values()] }
  }

  /** Returns the distinct query terms that any live document contains, in order of first occurrence. */
  #findTerms(text: string): number[] {
    const buffer = this.#buffer
    buffer.fill(text, 'query')
    const ids = new Set<number>()
    for (let i = 0; i < buffer.count; i++) {
      const id = this.#dictionary.find(buffer.bytes, buffer.starts[i]!, buffer.ends[i]!, buffer.hashes[i]!)
      if (id >= 0 && this.#dictionary.frequencies[id]! > 0) ids.add(id)
    }
    return [...ids]
  }

  #inverseFrequency(id: number): number {
    return inverseFrequency(this.#documents, this.#dictionary.frequencies[id]!)
  }

  /** The total number of terms in live documents, repetitions included. */
  get length(): number {
    return this.#length
  }

  get #averageLength(): number {
    return this.#length / this.#documents
  }

  #bounds(): Bounds {
    return { averageLength: Math.max(1, this.#averageLength || 1), weights: this.#weights }
  }

  /**
   * Returns a snapshot of the index at the moment of the call, with every document in a segment. It is
   * asynchronous because a worker may still be building segments; documents added or removed meanwhile are
   * not part of it.
   */
  async sealNow(): Promise<IndexParts> {
    this.#collection.freeze(this.#bounds())
    const dictionary = this.#dictionary.toPart()
    const sealed = this.#collection.sealed.filter((live) => liveCount(live) > 0)
    const { frozen } = this.#collection
    const holdings = [...sealed, ...frozen.map(({ live }) => live)]
    const dead = holdings.map((live) => live.dead.slice(0, (countDocuments(live) + 7) >> 3))
    const building = frozen.map(({ sealed: { promise } }) => promise)
    this.#runJobs()
    const segments = [...sealed.map(({ segment }) => segment), ...(await Promise.all(building))]
    return { dictionary, segments, state: encodeDead(dead) }
  }

  /** Resolves when sealing and merging have finished. */
  async settle(): Promise<void> {
    await this.#running
  }

  #runJobs(): void {
    if (this.#running) return
    const job = this.#nextJob()
    if (job && this.#background) this.#running = this.#runInBackground(this.#background, job)
    else this.#runInline(job)
  }

  #runInline(first: SegmentJob | undefined): void {
    for (let job = first; job; job = this.#nextJob()) this.#collection.adopt(job, buildSegment(job))
  }

  async #runInBackground(background: Background, first: SegmentJob): Promise<void> {
    for (let job: SegmentJob | undefined = first; job; job = this.#nextJob()) {
      const building = job.kind === 'seal' ? background.seal(job.tail) : background.merge(job.job)
      const segment = await building.catch((reason: unknown) => (isCancelled(reason) ? 'closed' : undefined))
      if (segment === 'closed') break
      this.#collection.adopt(job, segment ?? buildSegment(job))
    }
    this.#running = undefined
  }

  #nextJob(): SegmentJob | undefined {
    return this.#collection.nextJob(() => this.#bounds())
  }

  get stats(): TextIndexStats {
    const { holdings, sealed, tail } = this.#collection
    const unsealed = holdings.filter((live) => live.tail)
    const segments = sealed.flatMap(({ segment, dead }) => [...Object.values(segment.arrays), dead])
    return {
      documents: this.#documents,
      length: this.#length,
      terms: this.#dictionary.size,
      segments: sealed.length,
      tailDocuments: unsealed.reduce((sum, live) => sum + countDocuments(live), 0),
      bytes:
        this.#dictionary.bytes +
        tail.dead.length +
        unsealed.reduce((sum, live) => sum + live.tail!.bytes, 0) +
        segments.reduce((sum, array) => sum + array.byteLength, 0),
    }
  }

  /** Restores a saved index. Checks lengths, order and ranges; throws `invalid` when they are inconsistent. */
  static restore(
    parts: { dictionary: CheckpointPart; segments: readonly CheckpointPart[]; state: CheckpointPart },
    options?: TextIndexOptions,
  ): TextIndex {
    return new TextIndex(options, parts)
  }
}

function isCancelled(reason: unknown): boolean {
  return reason instanceof CrabError && reason.kind === 'cancelled'
}

function buildSegment(job: SegmentJob): Segment {
  return job.kind === 'seal' ? sealTail(job.tail) : mergeSegments(job.job)
}

function toWeights(weights: readonly number[] | undefined): Float64Array {
  return Float64Array.from({ length: DOCUMENT_KIND_COUNT }, (_, kind) => weights?.[kind] ?? 1)
}

function liveLength(live: Parameters<typeof documentColumns>[0]): number {
  const { lengths } = documentColumns(live)
  let length = 0
  for (let doc = 0; doc < countDocuments(live); doc++) if (!hasBit(live.dead, doc)) length += lengths[doc]!
  return length
}
