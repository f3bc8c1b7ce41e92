/**
 * Returns the first index from `from` on whose document is at least `doc`; `to` when there is none. Uses a
 * galloping search, so nearby matches are found quickly.
 */
export function seek(docs: Uint16Array, from: number, to: number, doc: number): number {
  if (from >= to || docs[from]! >= doc) return from
  let at = from
  let step = 1
  while (at + step < to && docs[at + step]! < doc) {
    at += step
    step <<= 1
  }
  let low = at + 1
  let high = Math.min(to, at + step)
  while (low < high) {
    const middle = (low + high) >> 1
    if (docs[middle]! < doc) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the index of `doc` between `from` and `to` (exclusive); -1 when absent. */
export function probe(docs: Uint16Array, from: number, to: number, doc: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if (docs[middle]! < doc) low = middle + 1
    else high = middle
  }
  return low < to && docs[low] === doc ? low : -1
}

/** Returns the index of `id` in ascending `ids`; -1 when absent. */
export function findId(ids: Uint32Array, id: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return ids[low] === id ? low : -1
}
