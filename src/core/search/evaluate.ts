import type { BestHits } from './best-hits.ts'
import { hasBit } from './bits.ts'
import { termScore } from './bm25.ts'
import { boundWindow, enterWindow, openCursors, type PostingsCursor } from './cursor.ts'
import { countDocuments, documentColumns, type LiveSegment } from './live-segment.ts'
import type { DocumentColumns } from './parts.ts'
import { probe } from './postings.ts'
import type { Query } from './query.ts'
import { B, K1 } from './types.ts'

/** Documents that are evaluated together: their sums stay in the processor's cache. */
const WINDOW = 4096
/** More than sums in another order can differ by. */
const SLACK = 1 + 1e-9

/** For one search after another: of the documents of a window their sums, all 0 between windows, and which have one. */
export interface WindowBuffers {
  sums: Float64Array
  touched: Uint16Array
}

export function windowBuffers(): WindowBuffers {
  return { sums: new Float64Array(WINDOW), touched: new Uint16Array(WINDOW) }
}

/** What is evaluated. */
interface Evaluation extends WindowBuffers {
  holding: LiveSegment
  columns: DocumentColumns
  query: Query
  best: BestHits
  /** In the query's order. */
  cursors: readonly PostingsCursor[]
  /** Of the window: by their bound, lowest first. */
  ordered: PostingsCursor[]
  /** The bounds of the first i of them together. */
  boundsBefore: Float64Array
}

/** Where hits go. */
export interface Gathering {
  best: BestHits
  buffers: WindowBuffers
}

/**
 * Offers the live documents of a holding that match and can be among the best.
 *
 * Block-max MaxScore by windows: a window whose bounds together stay below the worst of the best is left out, and in the
 * others those lists that cannot make a hit by themselves are only looked into for documents of the rest. Sums are
 * compared with some slack; what is offered has its exact score, summed in the query's order.
 */
export function evaluate(holding: LiveSegment, query: Query, { best, buffers }: Gathering): void {
  const cursors = openCursors(holding, query)
  if (cursors.length === 0) return
  const evaluation = {
    holding,
    columns: documentColumns(holding),
    query,
    best,
    cursors,
    ordered: [...cursors],
    boundsBefore: new Float64Array(cursors.length + 1),
    ...buffers,
  }
  const documents = countDocuments(holding)
  for (let from = 0; from < documents; from += WINDOW) evaluateWindow(evaluation, from)
}

function evaluateWindow(evaluation: Evaluation, from: number): void {
  const { cursors, ordered, best } = evaluation
  const to = from + WINDOW
  let bound = 0
  for (const cursor of cursors) bound += boundWindow(cursor, from, to)
  if (bound === 0 || bound <= best.threshold) return
  order(ordered, evaluation.boundsBefore)
  for (const cursor of cursors) enterWindow(cursor, from, to)
  const optional = countOptional(evaluation)
  const touched = sumUp(evaluation, optional, from)
  for (let i = 0; i < touched; i++) judge(evaluation, optional, from, evaluation.touched[i]!)
}

/** Few: sorted by insertion. */
function order(cursors: PostingsCursor[], boundsBefore: Float64Array): void {
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

/** How many of the lists, from the lowest bound on, cannot make a hit even together. */
function countOptional({ ordered, boundsBefore, best: { threshold } }: Evaluation): number {
  let count = 0
  while (count < ordered.length - 1 && boundsBefore[count + 1]! <= threshold) count++
  return count
}

/** Sums of the documents in the lists that are not optional; how many were touched. */
function sumUp(evaluation: Evaluation, optional: number, from: number): number {
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

/** Offers a document if it can be among the best, looking into one optional list after the other as long as it can. */
function judge(evaluation: Evaluation, optional: number, from: number, place: number): void {
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
  const { holding, query, best, cursors } = evaluation
  const { groups, kinds, seqs, offsets, times } = evaluation.columns
  const group = groups[doc]!
  const time = times[doc]!
  if (hasBit(holding.dead, doc) || !query.accepts(group, time)) return
  let sum = 0
  for (const cursor of cursors) sum += scoreIn(evaluation, cursor, doc)
  const score = weight * sum
  if (score === 0 || score < best.threshold) return
  best.offer({ group, kind: kinds[doc]!, seq: seqs[doc]!, offset: offsets[doc]!, time, score })
}

/** What a term adds to the score of a document of the window, exactly. */
function scoreIn({ columns, query }: Evaluation, cursor: PostingsCursor, doc: number): number {
  const at = probe(cursor.docs, cursor.at, cursor.windowEnd, doc)
  if (at < 0) return 0
  return termScore(cursor.factor, cursor.counts[at]!, columns.lengths[doc]!, query.averageLength)
}
