import type { TextHit } from './types.ts'

/** The best hits found so far, best first; at most one per group when hits are collapsed. */
export class BestHits {
  readonly hits: TextHit[] = []
  /** The score a document must reach to enter the list; 0 until the list is full. */
  threshold = 0
  #limit: number
  #byGroup: Map<number, TextHit> | undefined

  constructor(limit: number, collapse: boolean) {
    this.#limit = limit
    this.#byGroup = collapse ? new Map() : undefined
  }

  /**
   * Returns the score a document of this group must reach: also that of the group's current hit when
   * collapsed.
   */
  getThreshold(group: number): number {
    return Math.max(this.threshold, this.#byGroup?.get(group)?.score ?? 0)
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
    if (this.hits.length > this.#limit) this.#drop(this.hits.pop()!)
    if (this.hits.length === this.#limit) this.threshold = this.hits[this.#limit - 1]!.score
  }

  #drop({ group }: TextHit): void {
    this.#byGroup?.delete(group)
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

/** Sorts the better hit first. Rows that differ only in their offset put the later line first. */
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
