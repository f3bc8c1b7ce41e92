import type { Label } from './set.ts'

/** How often the right session is among the first, in percent, and the mean of 1 / its place. */
export type HitRates = { top1: number; top3: number; top10: number; mrr: number; queries: number }

/** Deeper places count as not found. */
export const DEPTH = 20

/** Rates over these labels; `search` gives sessions, best first. */
export function hitRates(labels: readonly Label[], search: (text: string) => readonly number[]): HitRates {
  return ratesOf(labels.map((label) => placeOf(label, search(label.text))))
}

/** The same of what was found already, each with its place: from 1, Infinity for none. */
export function ratesOf(places: readonly number[]): HitRates {
  const share = (most: number) => (100 * places.filter((place) => place <= most).length) / places.length
  const mrr = places.reduce((sum, place) => sum + 1 / place, 0) / places.length
  return { top1: share(1), top3: share(3), top10: share(10), mrr, queries: places.length }
}

/** From 1; Infinity when it is not among the first DEPTH. */
export function placeOf({ session }: Label, found: readonly number[]): number {
  const at = found.slice(0, DEPTH).indexOf(session)
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1
}
