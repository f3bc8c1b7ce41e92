import type { BestHits } from './best-hits.ts'
import { hasBit } from './bits.ts'
import { termScore } from './bm25.ts'
import { boundWindow, enterWindow, openCursors, type PostingsCursor } from './cursor.ts'
import { countDocuments, documentColumns, type LiveSegment } from './live-segment.ts'
import type { DocumentColumns } from './parts.ts'
import { probe } from './postings.ts'
import type { Query } from './query.ts'
import { B, K1 } from './types.ts'

/** The number of documents evaluated together; their sums stay in the processor's cache. */
const WINDOW = 4096
/** A factor above the rounding error between sums in different orders. */
const SLACK = 1 + 1e-9

/**
 * Buffers reused from search to search: the sum of each document in a window (all 0 between windows), and the
 * list of documents that have one.
 */
export interface WindowBuffers {
  sums: Float64Array
  touched: Uint16Array
}

/** Allocates the buffers for one search at a time. */
export function windowBuffers(): WindowBuffers {
  return { sums: new Float64Array(WINDOW), touched: new Uint16Array(WINDOW) }
}

/** The state of evaluating one query over one live segment. */
interface Evaluation extends WindowBuffers {
  live: LiveSegment
  columns: DocumentColumns
  query: Query
  best: BestHits
  /** The cursors in the order of the query's terms. */
  cursors: readonly PostingsCursor[]
  /** The same cursors, sorted for each window by ascending bound. */
  ordered: PostingsCursor[]
  /** The sum of the bounds of the first i cursors of `ordered`. */
  boundsBefore: Float64Array
}

/** The collected hits and the buffers of one search. */
export interface Gathering {
  best: BestHits
  buffers: WindowBuffers
}

/**
 * Offers the live documents of a segment that match and may be among the best hits.
 *
 * This is block-max MaxScore by windows: a window whose bounds together stay below the threshold is skipped.
 * In the other windows, lists that cannot produce a hit by themselves are only probed for documents found in
 * the remaining lists. Pruning compares sums with some slack; each offered document has its exact score,
 * summed in query order.
 */
export function evaluate(live: LiveSegment, query: Query, { best, buffers }: Gathering): void {
  const cursors = openCursors(live, query)
  if (cursors.length === 0) return
  const evaluation = {
    live,
    columns: documentColumns(live),
    query,
    best,
    cursors,
    ordered: [...cursors],
    boundsBefore: new Float64Array(cursors.length + 1),
    ...buffers,
  }
  const documents = countDocuments(live)
  for (let from = 0; from < documents; from += WINDOW) evaluateWindow(evaluation, from)
}

function evaluateWindow(evaluation: Evaluation, from: number): void {
  const { cursors, ordered, best } = evaluation
  const to = from + WINDOW
  let bound = 0
  for (const cursor of cursors) bound += boundWindow(cursor, from, to)
  if (bound === 0 || bound <= best.threshold) return
  sortByBound(ordered, evaluation.boundsBefore)
  for (const cursor of cursors) enterWindow(cursor, from, to)
  const optional = countOptional(evaluation)
  const touched = sumRequired(evaluation, optional, from)
  for (let i = 0; i < touched; i++) evaluateDocument(evaluation, optional, from, evaluation.touched[i]!)
}

/** Sorts by insertion, because a query has few terms. */
function sortByBound(cursors: PostingsCursor[], boundsBefore: Float64Array): void {
  for (let i = 1; i < cursors.length; i++) {
    const cursor = cursors[i]!
    let place = i
    for (; place > 0 && cursors[place - 1]!.windowBound > cursor.windowBound; place--) {
      cursors[place] = cursors[place - 1]!
    }
    cursors[place] = cursor
  }
  for (let i = 0; i < cursors.length; i++) boundsBefore[i + 1] = boundsBefore[i]! + cursors[i]!.windowBound
}

/** Returns how many of the lists, from the lowest bound on, cannot produce a hit even together. */
function countOptional({ ordered, boundsBefore, best: { threshold } }: Evaluation): number {
  let count = 0
  while (count < ordered.length - 1 && boundsBefore[count + 1]! <= threshold) count++
  return count
}

/** Sums the scores of the documents in the required lists; returns how many documents were touched. */
function sumRequired(evaluation: Evaluation, optional: number, from: number): number {
  const { ordered, query, sums, touched } = evaluation
  const { lengths } = evaluation.columns
  const base = K1 * (1 - B)
  const slope = (K1 * B) / query.averageLength
  let count = 0
  for (let i = optional; i < ordered.length; i++) {
    const { docs, counts, factor, at, windowEnd } = ordered[i]!
    for (let posting = at; posting < windowEnd; posting++) {
      const doc = docs[posting]!
      const terms = counts[posting]!
      const place = doc - from
      if (sums[place] === 0) touched[count++] = place
      sums[place]! += (factor * terms) / (terms + base + slope * lengths[doc]!)
    }
  }
  return count
}

/**
 * Offers a document if it can be among the best. Probes one optional list after the other and stops when it
 * cannot.
 */
function evaluateDocument(evaluation: Evaluation, optional: number, from: number, place: number): void {
  const { ordered, boundsBefore, query, best, sums, columns } = evaluation
  const doc = from + place
  const weight = query.weights[columns.kinds[doc]!]!
  let sum = sums[place]!
  sums[place] = 0
  if ((sum * weight + boundsBefore[optional]!) * SLACK < best.threshold) return
  const threshold = best.getThreshold(columns.groups[doc]!)
  for (let i = optional; i > 0; i--) {
    if ((sum * weight + boundsBefore[i]!) * SLACK < threshold) return
    sum += scoreIn(evaluation, ordered[i - 1]!, doc)
  }
  if (sum * weight * SLACK < threshold) return
  offer(evaluation, doc, weight)
}

function offer(evaluation: Evaluation, doc: number, weight: number): void {
  const { live, query, best, cursors } = evaluation
  const { groups, kinds, seqs, offsets, times } = evaluation.columns
  const group = groups[doc]!
  const time = times[doc]!
  if (hasBit(live.dead, doc) || !query.accepts(group, time)) return
  let sum = 0
  for (const cursor of cursors) sum += scoreIn(evaluation, cursor, doc)
  const score = weight * sum
  if (score === 0 || score < best.threshold) return
  best.offer({ group, kind: kinds[doc]!, seq: seqs[doc]!, offset: offsets[doc]!, time, score })
}

/** Returns the exact score that a term adds to a document of the window. */
function scoreIn({ columns, query }: Evaluation, cursor: PostingsCursor, doc: number): number {
  const at = probe(cursor.docs, cursor.at, cursor.windowEnd, doc)
  if (at < 0) return 0
  return termScore(cursor.factor, cursor.counts[at]!, columns.lengths[doc]!, query.averageLength)
}
