import { distance } from 'fastest-levenshtein'

/**
 * Returns the candidate that is most likely meant by `word`, ignoring case; undefined when none is close
 * enough.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length)
    const isSwapped = longer < SHORT && sortLetters(word) === sortLetters(candidate)
    const maxDistance = isSwapped ? 2 : longer < SHORT ? 1 : Math.floor(longer * NEAR)
    if (Math.abs(word.length - candidate.length) > maxDistance) continue // comparing long words takes seconds
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    if (steps > maxDistance || steps >= longer) continue
    const rank = steps === 2 && isTransposed(word, candidate) ? SWAPPED_RANK : steps
    if (rank >= bestDistance) continue
    bestDistance = rank
    best = candidate
  }
  return best
}

/** Returns `did you mean "…"?`, or undefined when no candidate is close enough. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const suggestion = nearest(word, candidates)
  return suggestion === undefined ? undefined : `did you mean "${suggestion}"?`
}

/** The fraction of letters that may differ. */
const NEAR = 0.4
/**
 * The length below which words may differ in one letter only, unless they are anagrams; otherwise every short
 * word would be near every other.
 */
const SHORT = 5

/** The rank of two swapped letters, the most common typo: before one letter that is wrong or missing. */
const SWAPPED_RANK = 0.5

/** Whether two neighboring letters of a word are swapped in the candidate, and the others are the same. */
function isTransposed(word: string, candidate: string): boolean {
  const [one, other] = [word.toLowerCase(), candidate.toLowerCase()]
  const at = [...one].findIndex((letter, i) => letter !== other[i])
  const swapped = one.slice(0, at) + one.charAt(at + 1) + one.charAt(at) + one.slice(at + 2)
  return at >= 0 && swapped === other
}

function sortLetters(word: string): string {
  return word.length < SHORT ? [...word.toLowerCase()].toSorted().join('') : word
}
