/** The number of segments of similar size that triggers a merge. */
const FAN_IN = 4
/** The share of removed documents above which a segment is rewritten. */
const DEAD_PART = 1 / 3

/** The numbers of a segment that the merge policy needs. */
export interface SegmentSize {
  documents: number
  live: number
  postings: number
}

/** The maximum size of a segment. */
export interface SegmentLimits {
  documents: number
  postings: number
}

/**
 * Chooses the segments to merge next, by index; undefined when no merge is due.
 *
 * Sizes fall into levels by powers of four. A document moves to a higher level with nearly every merge, so it
 * is written about once per level, and there are at most three segments of each level below the highest.
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
    const chosen = chooseFitting(sizes, places, limits)
    if (chosen.length > 1) return chosen
  }
  return undefined
}

function toLevel(live: number): number {
  return Math.floor(Math.log2(Math.max(1, live)) / 2)
}

/** Returns the smallest segments that together stay within the limits, in ascending index order. */
function chooseFitting(
  sizes: readonly SegmentSize[],
  places: readonly number[],
  limits: SegmentLimits,
): number[] {
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
