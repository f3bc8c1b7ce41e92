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

/** A tail that becomes a segment, and the promise of that. */
interface SealingTail {
  holding: LiveSegment
  tail: FrozenTail
  sealed: PromiseWithResolvers<Segment>
}

/** A segment that is to be made. */
export type SegmentJob =
  | { kind: 'seal'; frozen: SealingTail; tail: FrozenTail }
  | { kind: 'merge'; holdings: readonly SealedSegment[]; job: MergeJob }

interface CollectionOptions {
  /** Documents of a tail at most. */
  tailDocuments: number
  /** How many terms there are now. */
  countTerms: () => number
  limits: SegmentLimits
  sealed: readonly SealedSegment[]
}

/** All documents of an index: segments, tails that become segments, and the tail that grows. */
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

  /** The newest first, in which there is most often what is looked for. */
  get holdings(): readonly LiveSegment[] {
    return [this.tail, ...this.#frozen.map(({ holding }) => holding).reverse(), ...this.#sealed.toReversed()]
  }

  get sealed(): readonly SealedSegment[] {
    return this.#sealed
  }

  get frozen(): readonly SealingTail[] {
    return this.#frozen
  }

  /** From now on documents go to another tail. */
  freeze(bounds: Bounds): void {
    if (countDocuments(this.tail) === 0) return
    const tail = this.tail.tail!.freeze(bounds)
    this.#frozen.push({ holding: this.tail, tail, sealed: Promise.withResolvers() })
    this.tail = this.#newTail()
  }

  #newTail(): LiveSegment {
    return toTailSegment(new Tail(this.#countTerms()), this.#tailDocuments)
  }

  /** Tails come before merges, the oldest first. */
  nextJob(bounds: () => Bounds): SegmentJob | undefined {
    const [frozen] = this.#frozen
    if (frozen) return { kind: 'seal', frozen, tail: frozen.tail }
    this.#sealed = this.#sealed.filter((holding) => liveCount(holding) > 0)
    const chosen = chooseMerge(this.#sealed.map(segmentSize), this.#limits)
    if (!chosen) return undefined
    const holdings = chosen.map((place) => this.#sealed[place]!)
    const parts = holdings.map(({ segment, dead }) => ({ segment, dead: dead.slice() }))
    return { kind: 'merge', holdings, job: { bounds: bounds(), parts } }
  }

  /** Takes what a job made in the place of what it was made of. */
  adopt(job: SegmentJob, segment: Segment): void {
    if (job.kind === 'seal') this.#adoptTail(job.frozen, segment)
    else this.#adoptMerged(job.holdings, job.job, segment)
  }

  #adoptTail(frozen: SealingTail, segment: Segment): void {
    this.#frozen.splice(this.#frozen.indexOf(frozen), 1)
    const { dead, deadCount } = frozen.holding
    const holding = toSealedSegment(segment)
    holding.dead.set(dead.subarray(0, holding.dead.length))
    holding.deadCount = deadCount
    this.#sealed.push(holding)
    frozen.sealed.resolve(segment)
  }

  #adoptMerged(holdings: readonly SealedSegment[], job: MergeJob, segment: Segment): void {
    const merged = toSealedSegment(segment)
    let next = 0
    holdings.forEach((holding, part) => {
      const { dead } = job.parts[part]!
      for (let doc = 0; doc < countDocuments(holding); doc++) {
        if (hasBit(dead, doc)) continue
        if (hasBit(holding.dead, doc)) {
          setBit(merged.dead, next)
          merged.deadCount++
        }
        next++
      }
    })
    const place = this.#sealed.indexOf(holdings[0]!)
    this.#sealed[place] = merged
    this.#sealed = this.#sealed.filter((holding) => !holdings.includes(holding))
  }
}
