import type { Label } from './set.ts'

/**
 * The share of queries, in percent, whose session ranks among the first results, and the mean reciprocal
 * rank.
 */
export type HitRates = { top1: number; top3: number; top10: number; mrr: number; queries: number }

/** The depth up to which results count as found. */
export const DEPTH = 20

/** Computes the rates over these labels; `search` returns sessions, best first. */
export function hitRates(labels: readonly Label[], search: (text: string) => readonly number[]): HitRates {
  return toHitRates(labels.map((label) => findRank(label, search(label.text))))
}

/** Computes the rates from ranks that are already known: from 1, Infinity when not found. */
export function toHitRates(places: readonly number[]): HitRates {
  const share = (most: number) => (100 * places.filter((place) => place <= most).length) / places.length
  const mrr = places.reduce((sum, place) => sum + 1 / place, 0) / places.length
  return { top1: share(1), top3: share(3), top10: share(10), mrr, queries: places.length }
}

/** Returns the rank of a label's session, from 1; Infinity when it is not among the first DEPTH. */
export function findRank({ session }: Label, found: readonly number[]): number {
  const at = found.slice(0, DEPTH).indexOf(session)
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1
}
