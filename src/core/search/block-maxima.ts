import { BLOCK, type Bounds, DOCUMENT_KIND_COUNT, type DocumentColumns } from './parts.ts'
import { sharedArray } from './shared-arrays.ts'
import { B, K1 } from './types.ts'

/** A factor above the error from rounding a maximum to a 32-bit float and from summing in another order. */
const SLACK = 1.000001

interface Lists {
  starts: Uint32Array
  docs: Uint16Array
  counts: Uint8Array
}

/**
 * Computes the upper bound of what one posting adds to a score (without idf) for every block of every long
 * list; see `Segment`.
 */
export function computeMaxima(columns: DocumentColumns, lists: Lists, bounds: Bounds) {
  const long = longLists(lists.starts)
  const maximaStarts = sharedArray(Uint32Array, long.length + 1)
  long.forEach((list, j) => {
    maximaStarts[j + 1] =
      maximaStarts[j]! + Math.ceil((lists.starts[list + 1]! - lists.starts[list]!) / BLOCK)
  })
  const maxima = sharedArray(Float32Array, maximaStarts[long.length]!)
  long.forEach((list, j) => {
    const end = lists.starts[list + 1]!
    for (let from = lists.starts[list]!, at = maximaStarts[j]!; from < end; from += BLOCK, at++) {
      maxima[at] = blockMaximum(columns, lists, bounds, { from, to: Math.min(end, from + BLOCK) }) * SLACK
    }
  })
  const weights = sharedArray(Float64Array, DOCUMENT_KIND_COUNT)
  weights.set(bounds.weights)
  return { weights, long, maximaStarts, maxima }
}

function longLists(starts: Uint32Array): Uint32Array {
  const isLong = (list: number) => starts[list + 1]! - starts[list]! > BLOCK
  let count = 0
  for (let list = 0; list + 1 < starts.length; list++) if (isLong(list)) count++
  const long = sharedArray(Uint32Array, count)
  for (let list = 0, j = 0; j < count; list++) if (isLong(list)) long[j++] = list
  return long
}

function blockMaximum(
  { lengths, kinds }: DocumentColumns,
  { docs, counts }: Lists,
  { averageLength, weights }: Bounds,
  { from, to }: { from: number; to: number },
): number {
  const base = K1 * (1 - B)
  const slope = (K1 * B) / averageLength
  let maximum = 0
  for (let i = from; i < to; i++) {
    const doc = docs[i]!
    const count = counts[i]!
    const value = (weights[kinds[doc]!]! * count) / (count + base + slope * lengths[doc]!)
    if (value > maximum) maximum = value
  }
  return maximum
}
