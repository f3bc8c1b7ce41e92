/** Segments of about one size that are merged when there are so many. */
const FAN_IN = 4
/** The part of a segment's documents that are dead from which it is made anew. */
const DEAD_PART = 1 / 3

/** What of a segment decides about merges. */
export interface SegmentSize {
  documents: number
  live: number
  postings: number
}

/** What a segment holds at most. */
export interface SegmentLimits {
  documents: number
  postings: number
}

/**
 * The segments, by their places, that are to be merged next; undefined when it is well as it is.
 *
 * Sizes are in levels by powers of four: a document moves to a higher level with nearly every merge, so that it is
 * written about once for each level, and there are at most three segments of each level below the highest.
 */
export function chooseMerge(sizes: readonly SegmentSize[], limits: SegmentLimits): number[] | undefined {
  const wasteful = sizes.findIndex(({ documents, live }) => documents - live > documents * DEAD_PART)
  if (wasteful >= 0) return [wasteful]
  const byLevel = new Map<number, number[]>()
  sizes.forEach(({ live }, place) => {
    const level = toLevel(live)
    byLevel.set(level, [...(byLevel.get(level) ?? []), place])
  })
  for (const level of [...byLevel.keys()].sort((a, b) => a - b)) {
    const places = byLevel.get(level)!
    if (places.length < FAN_IN) continue
    const chosen = fitting(sizes, places, limits)
    if (chosen.length > 1) return chosen
  }
  return undefined
}

function toLevel(live: number): number {
  return Math.floor(Math.log2(Math.max(1, live)) / 2)
}

/** The smallest of them that together stay within the limits, in their order. */
function fitting(sizes: readonly SegmentSize[], places: readonly number[], limits: SegmentLimits): number[] {
  const chosen: number[] = []
  let { documents, postings } = limits
  for (const place of places.toSorted((a, b) => sizes[a]!.live - sizes[b]!.live)) {
    documents -= sizes[place]!.live
    postings -= sizes[place]!.postings
    if (documents < 0 || postings < 0) break
    chosen.push(place)
  }
  return chosen.sort((a, b) => a - b)
}
