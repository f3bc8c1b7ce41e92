/** The first place from `from` on, before `to`, with at least `doc`: `to` when there is none. Quick when it is near. */
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

/** Where `doc` is from `from` on, before `to`; -1 when it is not. */
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

/** Where `id` is in ascending `ids`; -1 when it is not. */
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
