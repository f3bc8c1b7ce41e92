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

/** One window: a tail is searched without block maxima, and its lists are not contiguous. */
const TAIL_DOCUMENTS = 4096
/** A tail, and a segment, with more postings than these are large enough, however few documents have them. */
const TAIL_POSTINGS = 2 ** 22
const SEGMENT_POSTINGS = 2 ** 24

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
  /** In the order they were asked for; `counts` is by the terms of `idf`. */
  groups: readonly GroupCounts[]
}

export interface TextIndexStats {
  /** Live ones. */
  documents: number
  /** Terms of them all, each as often as it occurs. */
  length: number
  /** Distinct terms ever seen. */
  terms: number
  segments: number
  /** Documents that are not in segments yet, with dead ones. */
  tailDocuments: number
  /** Of the arrays of segments, tail and dictionary, which are no part of the JavaScript heap. */
  bytes: number
}

/** An index over documents that knows nothing of what they are (RFC 0150, RFC 0185). Their text is not kept. */
export class TextIndex {
  readonly #background: Background | undefined
  readonly #weights: Float64Array
  readonly #tailDocuments: number
  readonly #dictionary: Dictionary
  readonly #collection: Collection
  /** What its texts are read with. */
  readonly characters = new CharacterTable()
  readonly #buffer = new TermBuffer(this.characters)
  readonly #windows = windowBuffers()
  #ids = new Uint32Array(256)
  /** Live documents, and the terms in them. */
  #documents = 0
  #length = 0
  #working: Promise<void> | undefined

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
    for (const holding of this.#collection.sealed) {
      this.#documents += liveCount(holding)
      this.#length += liveLength(holding)
    }
  }

  /** Adds a document; found by the next search. */
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
   * Adds a document whose terms, ids from internTerm(), are `terms` from `from` on, `count` of them, in their order;
   * at most MAX_DOCUMENT_TERMS are looked at.
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
    this.#work()
  }

  /** The id of a term: `length` bytes of UTF-8, with the hash that `hashTerm` gives. */
  internTerm(bytes: Uint8Array, from: number, length: number, hash: number): number {
    return this.#dictionary.intern(bytes, from, from + length, hash)
  }

  /** Removes all documents of groups. */
  removeGroups(groups: Iterable<number>): void {
    this.#remove({ groups: new Set(groups), kind: undefined })
  }

  /** Removes the documents of one kind of a group: a title that changed. */
  removeDocuments(group: number, kind: number): void {
    this.#remove({ groups: new Set([group]), kind })
  }

  #remove(doomed: RemovedDocuments): void {
    if (doomed.groups.size === 0) return
    for (const holding of this.#collection.holdings) {
      const removed = removeFrom(holding, doomed, this.#dictionary.frequencies)
      this.#documents -= removed.documents
      this.#length -= removed.length
    }
    this.#work()
  }

  /** Best first. */
  search(query: TextQuery): TextHit[] {
    const ids = query.limit > 0 ? this.#findTerms(query.text) : []
    if (ids.length === 0) return []
    const weights = toWeights(query.weights)
    const evaluated = {
      ids,
      factors: ids.map((id) => this.#inverseFrequency(id) * (K1 + 1)),
      averageLength: this.#averageLength,
      weights,
      heaviest: Math.max(...weights),
      accepts: toFilter(query),
    }
    const best = new BestHits(query.limit, query.collapse ?? false)
    for (const holding of this.#collection.holdings)
      evaluate(holding, evaluated, { best, buffers: this.#windows })
    return best.hits
  }

  /** For scores of whole groups. */
  groupTerms(text: string, groups: Iterable<number>): GroupTerms {
    const ids = this.#findTerms(text)
    const counts = new Map<number, GroupCounts>()
    for (const group of groups) counts.set(group, { group, length: 0, counts: ids.map(() => 0) })
    for (const holding of this.#collection.holdings) countGroups(holding, ids, counts)
    return { idf: ids.map((id) => this.#inverseFrequency(id)), groups: [...counts.values()] }
  }

  /** Distinct terms of a query that any live document has, in the order they first stand in it. */
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

  /** Terms of all live documents, each as often as it occurs. */
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
   * The index as it is at the moment of the call, with everything in segments; the promise is there because a segment
   * may be made in a worker. What is added or removed meanwhile is not in it.
   */
  async sealNow(): Promise<IndexParts> {
    this.#collection.freeze(this.#bounds())
    const dictionary = this.#dictionary.toPart()
    const sealed = this.#collection.sealed.filter((holding) => liveCount(holding) > 0)
    const { frozen } = this.#collection
    const holdings = [...sealed, ...frozen.map(({ holding }) => holding)]
    const dead = holdings.map((holding) => holding.dead.slice(0, (countDocuments(holding) + 7) >> 3))
    const promised = frozen.map(({ sealed: { promise } }) => promise)
    this.#work()
    const segments = [...sealed.map(({ segment }) => segment), ...(await Promise.all(promised))]
    return { dictionary, segments, state: encodeDead(dead) }
  }

  /** Resolves when nothing is sealed or merged any more. */
  async settle(): Promise<void> {
    await this.#working
  }

  #work(): void {
    if (this.#working) return
    const job = this.#nextJob()
    if (job && this.#background) this.#working = this.#workBeside(this.#background, job)
    else this.#workHere(job)
  }

  #workHere(first: SegmentJob | undefined): void {
    for (let job = first; job; job = this.#nextJob()) this.#collection.adopt(job, make(job))
  }

  async #workBeside(background: Background, first: SegmentJob): Promise<void> {
    for (let job: SegmentJob | undefined = first; job; job = this.#nextJob()) {
      const made = job.kind === 'seal' ? background.seal(job.tail) : background.merge(job.job)
      const segment = await made.catch((reason: unknown) => (isCancelled(reason) ? 'closed' : undefined))
      if (segment === 'closed') break
      this.#collection.adopt(job, segment ?? make(job))
    }
    this.#working = undefined
  }

  #nextJob(): SegmentJob | undefined {
    return this.#collection.nextJob(() => this.#bounds())
  }

  get stats(): TextIndexStats {
    const { holdings, sealed, tail } = this.#collection
    const unsealed = holdings.filter((holding) => holding.tail)
    const segments = sealed.flatMap(({ segment, dead }) => [...Object.values(segment.arrays), dead])
    return {
      documents: this.#documents,
      length: this.#length,
      terms: this.#dictionary.size,
      segments: sealed.length,
      tailDocuments: unsealed.reduce((sum, holding) => sum + countDocuments(holding), 0),
      bytes:
        this.#dictionary.bytes +
        tail.dead.length +
        unsealed.reduce((sum, holding) => sum + holding.tail!.bytes, 0) +
        segments.reduce((sum, array) => sum + array.byteLength, 0),
    }
  }

  /** Lengths, order and ranges are checked; fails with `invalid` when they are not those of an index. */
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

function make(job: SegmentJob): Segment {
  return job.kind === 'seal' ? sealTail(job.tail) : mergeSegments(job.job)
}

function toWeights(weights: readonly number[] | undefined): Float64Array {
  return Float64Array.from({ length: DOCUMENT_KIND_COUNT }, (_, kind) => weights?.[kind] ?? 1)
}

function liveLength(holding: Parameters<typeof documentColumns>[0]): number {
  const { lengths } = documentColumns(holding)
  let length = 0
  for (let doc = 0; doc < countDocuments(holding); doc++)
    if (!hasBit(holding.dead, doc)) length += lengths[doc]!
  return length
}
