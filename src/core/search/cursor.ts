import { findPostings, type LiveSegment } from './live-segment.ts'
import { BLOCK, type Segment } from './parts.ts'
import { findId, seek } from './postings.ts'
import type { Query } from './query.ts'

/** A cursor over the postings of one term in a live segment, advanced window by window. */
export interface PostingsCursor {
  docs: Uint16Array
  counts: Uint8Array
  factor: number
  /** The postings inside the window, set by enterWindow(): first, and end (exclusive). */
  at: number
  windowEnd: number
  /** The end of the list (exclusive). */
  end: number
  /** The most this term can add to the weighted score of any document in the window. */
  windowBound: number
  /** The bound for lists without block maxima. */
  bound: number
  blocks: Blocks | undefined
}

/** The block maxima of a list. */
interface Blocks {
  maxima: Float32Array
  /** The factor that turns a stored maximum into a bound for this query. */
  scale: number
  /** The first block that does not end before the window, as an index into `maxima`. */
  at: number
  end: number
  /** The posting after that block. */
  blockEnd: number
}

/** Opens a cursor for each query term that occurs in the live segment, in query order. */
export function openCursors(live: LiveSegment, query: Query): PostingsCursor[] {
  const inflation = live.segment ? computeInflation(live.segment, query) : 0
  const cursors: PostingsCursor[] = []
  query.ids.forEach((id, term) => {
    const list = findPostings(live, id)
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
      blocks: live.segment && openBlocks(live.segment, list, factor * inflation),
    })
  })
  return cursors
}

/**
 * Returns the factor by which a segment's maxima may be too low: they were computed for another average
 * length and other weights.
 */
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

/**
 * Sets and returns the bound for documents `from` to `to` (exclusive). Windows must be passed in ascending
 * order.
 */
export function boundWindow(cursor: PostingsCursor, from: number, to: number): number {
  const { docs, end, blocks } = cursor
  if (blocks) cursor.windowBound = boundBlocks(cursor, blocks, from, to)
  else {
    cursor.at = seek(docs, cursor.at, end, from)
    cursor.windowBound = cursor.at < end && docs[cursor.at]! < to ? cursor.bound : 0
  }
  return cursor.windowBound
}

/** Returns the highest bound of the blocks that can contain documents of the window. */
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

/** Moves the cursor to the postings of a window. Windows must be passed in ascending order. */
export function enterWindow(cursor: PostingsCursor, from: number, to: number): void {
  cursor.at = seek(cursor.docs, cursor.at, cursor.end, from)
  cursor.windowEnd = seek(cursor.docs, cursor.at, cursor.end, to)
}
