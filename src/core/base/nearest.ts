import { distance } from 'fastest-levenshtein'

/** The candidate a person most likely meant by `word`; undefined when none is near. Upper and lower case count as equal. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    const longer = Math.max(word.length, candidate.length)
    if (steps >= Math.min(least, longer) || steps > Math.ceil(longer * NEAR)) continue
    least = steps
    best = candidate
  }
  return best
}

/** `did you mean "…"?`, or undefined when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const meant = nearest(word, candidates)
  return meant === undefined ? undefined : `did you mean "${meant}"?`
}

/** The share of letters that may differ. */
const NEAR = 0.4
