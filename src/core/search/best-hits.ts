import type { TextHit } from './types.ts'

/** The best hits so far, best first, of each group at most one when they are collapsed. */
export class BestHits {
  readonly hits: TextHit[] = []
  #limit: number
  #byGroup: Map<number, TextHit> | undefined

  constructor(limit: number, collapse: boolean) {
    this.#limit = limit
    this.#byGroup = collapse ? new Map() : undefined
  }

  /** What is below this score cannot be among them any more; 0 while there is room. */
  get threshold(): number {
    return this.hits.length < this.#limit ? 0 : this.hits[this.#limit - 1]!.score
  }

  offer(hit: TextHit): void {
    const rival = this.#byGroup?.get(hit.group)
    if (rival) {
      if (compareHits(hit, rival) > 0) return
      this.hits.splice(this.hits.indexOf(rival), 1)
    }
    const place = this.#place(hit)
    if (place >= this.#limit) return
    this.hits.splice(place, 0, hit)
    this.#byGroup?.set(hit.group, hit)
    if (this.hits.length > this.#limit) this.#byGroup?.delete(this.hits.pop()!.group)
    this.hits.length = Math.min(this.hits.length, this.#limit)
  }

  #place(hit: TextHit): number {
    let low = 0
    let high = this.hits.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (compareHits(this.hits[middle]!, hit) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Below 0 when `a` is the better one. Rows that differ in their offset only have the later line first. */
function compareHits(a: TextHit, b: TextHit): number {
  return (
    b.score - a.score ||
    b.time - a.time ||
    b.seq - a.seq ||
    b.group - a.group ||
    b.kind - a.kind ||
    b.offset - a.offset
  )
}
