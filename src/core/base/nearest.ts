import { distance } from 'fastest-levenshtein'

/** The candidate a person most likely meant by `word`; undefined when none is near. Upper and lower case count as equal. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length)
    const isShort = longer < SHORT && sorted(word) !== sorted(candidate)
    const most = isShort ? 1 : Math.ceil(longer * NEAR)
    if (Math.abs(word.length - candidate.length) > most) continue // to compare long words takes seconds
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    if (steps >= Math.min(least, longer) || steps > most) continue
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
/** Of shorter words every other one would be near, but for one of the same letters. */
const SHORT = 4

function sorted(word: string): string {
  return word.length < SHORT ? [...word.toLowerCase()].toSorted().join('') : word
}
