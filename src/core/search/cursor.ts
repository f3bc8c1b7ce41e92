import { findPostings, type LiveSegment } from './live-segment.ts'
import { BLOCK, type Segment } from './parts.ts'
import { findId, seek } from './postings.ts'
import type { Query } from './query.ts'

/** The postings of one term in a holding while they are walked, window after window. */
export interface PostingsCursor {
  docs: Uint16Array
  counts: Uint8Array
  factor: number
  /** The postings in the window, once enterWindow() was called for it: from, to (not included). */
  at: number
  windowEnd: number
  /** Behind the last posting. */
  end: number
  /** What it can add to the score of a document of the window at most, weight and all. */
  windowBound: number
  /** The bound of what has no maxima. */
  bound: number
  blocks: Blocks | undefined
}

/** The block maxima of a list. */
interface Blocks {
  maxima: Float32Array
  /** Makes a maximum a bound for this query. */
  scale: number
  /** The first block that does not end before the window; where its maximum is. */
  at: number
  end: number
  /** The posting behind that block. */
  blockEnd: number
}

/** The terms of a query that occur in a holding, in the query's order. */
export function openCursors(holding: LiveSegment, query: Query): PostingsCursor[] {
  const inflation = holding.segment ? computeInflation(holding.segment, query) : 0
  const cursors: PostingsCursor[] = []
  query.ids.forEach((id, term) => {
    const list = findPostings(holding, id)
    if (!list) return
    const factor = query.factors[term]!
    cursors.push({
      docs: list.docs,
      counts: list.counts,
      factor,
      at: list.from,
      windowEnd: list.from,
      end: list.to,
      windowBound: 0,
      bound: factor * query.heaviest,
      blocks: holding.segment && openBlocks(holding.segment, list, factor * inflation),
    })
  })
  return cursors
}

/** By how much the maxima of a segment are too small at most, since they were made for another length and weights. */
function computeInflation({ facts, arrays }: Segment, { averageLength, weights }: Query): number {
  let ratio = 0
  weights.forEach((weight, kind) => {
    if (weight > 0) ratio = Math.max(ratio, weight / arrays.weights[kind]!)
  })
  return ratio * Math.max(1, averageLength / facts.averageLength)
}

function openBlocks(
  { arrays }: Segment,
  list: { place: number; from: number; to: number },
  scale: number,
): Blocks | undefined {
  if (list.to - list.from <= BLOCK) return undefined
  const long = findId(arrays.long, list.place)
  const { maxima, maximaStarts } = arrays
  const blockEnd = Math.min(list.to, list.from + BLOCK)
  return { maxima, scale, at: maximaStarts[long]!, end: maximaStarts[long + 1]!, blockEnd }
}

/** Sets and gives the bound for the documents from `from` to `to` (not included); windows come in ascending order. */
export function boundWindow(cursor: PostingsCursor, from: number, to: number): number {
  const { docs, end, blocks } = cursor
  if (blocks) cursor.windowBound = boundBlocks(cursor, blocks, from, to)
  else {
    cursor.at = seek(docs, cursor.at, end, from)
    cursor.windowBound = cursor.at < end && docs[cursor.at]! < to ? cursor.bound : 0
  }
  return cursor.windowBound
}

/** The highest maximum of the blocks that can have documents of the window. */
function boundBlocks({ docs, end }: PostingsCursor, blocks: Blocks, from: number, to: number): number {
  while (blocks.at < blocks.end && docs[blocks.blockEnd - 1]! < from) {
    blocks.at++
    blocks.blockEnd = Math.min(end, blocks.blockEnd + BLOCK)
  }
  let highest = 0
  let blockEnd = blocks.blockEnd
  for (let block = blocks.at; block < blocks.end; block++) {
    if (blocks.maxima[block]! > highest) highest = blocks.maxima[block]!
    if (docs[blockEnd - 1]! >= to - 1) break
    blockEnd = Math.min(end, blockEnd + BLOCK)
  }
  return highest * blocks.scale
}

/** Finds the postings of a window. */
export function enterWindow(cursor: PostingsCursor, from: number, to: number): void {
  cursor.at = seek(cursor.docs, cursor.at, cursor.end, from)
  cursor.windowEnd = seek(cursor.docs, cursor.at, cursor.end, to)
}
