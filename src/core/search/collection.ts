import { hasBit, setBit } from './bits.ts'
import {
  countDocuments,
  type LiveSegment,
  liveCount,
  type SealedSegment,
  segmentSize,
  toSealedSegment,
  toTailSegment,
} from './live-segment.ts'
import { chooseMerge, type SegmentLimits } from './merge-policy.ts'
import type { Bounds, FrozenTail, MergeJob, Segment } from './parts.ts'
import { Tail } from './tail.ts'

/** A tail that is being sealed, and the promise of its segment. */
interface SealingTail {
  live: LiveSegment
  tail: FrozenTail
  sealed: PromiseWithResolvers<Segment>
}

/** A segment to build: a frozen tail to seal, or segments to merge. */
export type SegmentJob =
  | { kind: 'seal'; frozen: SealingTail; tail: FrozenTail }
  | { kind: 'merge'; holdings: readonly SealedSegment[]; job: MergeJob }

interface CollectionOptions {
  /** The maximum number of documents in a tail. */
  tailDocuments: number
  /** Returns the current number of terms in the dictionary. */
  countTerms: () => number
  limits: SegmentLimits
  sealed: readonly SealedSegment[]
}

/** All documents of an index: sealed segments, frozen tails that are being sealed, and the growing tail. */
export class Collection {
  tail: LiveSegment
  #frozen: SealingTail[] = []
  #sealed: SealedSegment[] = []
  readonly #tailDocuments: number
  readonly #countTerms: () => number
  readonly #limits: SegmentLimits

  constructor(options: CollectionOptions) {
    this.#countTerms = options.countTerms
    this.#tailDocuments = options.tailDocuments
    this.#limits = options.limits
    this.#sealed = [...options.sealed]
    this.tail = this.#newTail()
  }

  /** All live segments, newest first, because most hits are recent. */
  get holdings(): readonly LiveSegment[] {
    return [this.tail, ...this.#frozen.map(({ live }) => live).reverse(), ...this.#sealed.toReversed()]
  }

  get sealed(): readonly SealedSegment[] {
    return this.#sealed
  }

  get frozen(): readonly SealingTail[] {
    return this.#frozen
  }

  /**
   * Freezes the tail for sealing and starts a new one for later documents; does nothing while the tail is
   * empty.
   */
  freeze(bounds: Bounds): void {
    if (countDocuments(this.tail) === 0) return
    const tail = this.tail.tail!.freeze(bounds)
    this.#frozen.push({ live: this.tail, tail, sealed: Promise.withResolvers() })
    this.tail = this.#newTail()
  }

  #newTail(): LiveSegment {
    return toTailSegment(new Tail(this.#countTerms()), this.#tailDocuments)
  }

  /**
   * Returns the next job: frozen tails before merges, the oldest first; undefined when there is nothing to
   * do.
   */
  nextJob(bounds: () => Bounds): SegmentJob | undefined {
    const [frozen] = this.#frozen
    if (frozen) return { kind: 'seal', frozen, tail: frozen.tail }
    this.#sealed = this.#sealed.filter((live) => liveCount(live) > 0)
    const chosen = chooseMerge(this.#sealed.map(segmentSize), this.#limits)
    if (!chosen) return undefined
    const holdings = chosen.map((place) => this.#sealed[place]!)
    const parts = holdings.map(({ segment, dead }) => ({ segment, dead: dead.slice() }))
    return { kind: 'merge', holdings, job: { bounds: bounds(), parts } }
  }

  /** Replaces the inputs of a job by the segment built from them. */
  adopt(job: SegmentJob, segment: Segment): void {
    if (job.kind === 'seal') this.#adoptTail(job.frozen, segment)
    else this.#adoptMerged(job.holdings, job.job, segment)
  }

  #adoptTail(frozen: SealingTail, segment: Segment): void {
    this.#frozen.splice(this.#frozen.indexOf(frozen), 1)
    const { dead, deadCount } = frozen.live
    const live = toSealedSegment(segment)
    live.dead.set(dead.subarray(0, live.dead.length))
    live.deadCount = deadCount
    this.#sealed.push(live)
    frozen.sealed.resolve(segment)
  }

  #adoptMerged(holdings: readonly SealedSegment[], job: MergeJob, segment: Segment): void {
    const merged = toSealedSegment(segment)
    let next = 0
    holdings.forEach((live, part) => {
      const { dead } = job.parts[part]!
      for (let doc = 0; doc < countDocuments(live); doc++) {
        if (hasBit(dead, doc)) continue
        if (hasBit(live.dead, doc)) {
          setBit(merged.dead, next)
          merged.deadCount++
        }
        next++
      }
    })
    const place = this.#sealed.indexOf(holdings[0]!)
    this.#sealed[place] = merged
    this.#sealed = this.#sealed.filter((live) => !holdings.includes(live))
  }
}
