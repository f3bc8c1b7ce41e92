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
    const rank = isTransposed(word, candidate) ? steps / MAX_TRANSPOSED : steps
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

/** Swapped letters are the most common typo: a candidate with the same letters ranks before one that lacks a letter. */
const MAX_TRANSPOSED = 3

function isTransposed(word: string, candidate: string): boolean {
  if (word.length !== candidate.length || word.length > MAX_SORTED) return false
  const sort = (text: string) => [...text.toLowerCase()].toSorted().join('')
  return sort(word) === sort(candidate)
}

/** The length up to which words are compared by their letters. */
const MAX_SORTED = 32

function sortLetters(word: string): string {
  return word.length < SHORT ? [...word.toLowerCase()].toSorted().join('') : word
}
