import { findCredentials } from './credentials.ts'
import { findAssignedSecrets, type TextSpan } from './secrets/assigned-secrets.ts'

/**
 * A text with `mask` in the place of what looks like a secret: credentials by their shape, and what is given to a name
 * of one (`DB_PASSWORD=hunter2`).
 */
export function maskCredentials(text: string, mask: string): string {
  const places = [...findInRuns(text), ...(mayHoldKey(text) ? findCredentials(text) : [])]
  if (places.length === 0) return text
  let masked = ''
  let end = 0
  for (const [from, to] of places.sort(([a], [b]) => a - b)) {
    if (from >= end) masked += text.slice(end, from) + mask
    end = Math.max(end, to)
  }
  return masked + text.slice(end)
}

/** Keys stand on several lines; everything else on one, most of it in one run of ASCII without blanks. */
function mayHoldKey(text: string): boolean {
  return text.includes('PRIVATE KEY') || text.includes('PuTTY-User-Key')
}

/** Gives the places of secrets on one line: it looks closely only at long runs that are not all letters, and around `@`, `=` and `:`. */
function findInRuns(text: string): TextSpan[] {
  const places: TextSpan[] = [...findAssignedSecrets(text)]
  for (const [start, end] of longRuns(text)) {
    if (mayHoldToken(text, start, end)) places.push(...findBetween(text, start, end))
  }
  let end = 0
  for (const at of findSigns(text, '@')) {
    if (at < end) continue
    end = findRunEnd(text, at)
    places.push(...findBetween(text, findRunStart(text, at), end))
  }
  return places
}

function* findSigns(text: string, sign: string): Generator<number> {
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) yield at
}

/** Of MIN_RUN characters or more: in a run that long every MIN_RUN-th one is of it, so that few others are looked at. */
function* longRuns(text: string): Generator<TextSpan> {
  for (let start = 0; start + MIN_RUN <= text.length; ) {
    const first = findRunStart(text, start + MIN_RUN, start)
    if (first > start) {
      start = first
      continue
    }
    const end = findRunEnd(text, start + MIN_RUN)
    yield [start, end]
    start = end + 1
  }
}

/** Where the run begins that ends before `at`, not before `from`. */
function findRunStart(text: string, at: number, from = 0): number {
  let start = at
  while (start > from && isInRun(text.charCodeAt(start - 1))) start--
  return start
}

function findRunEnd(text: string, at: number): number {
  let end = at
  while (end < text.length && isInRun(text.charCodeAt(end))) end++
  return end
}

/** ASCII that is no blank. */
function isInRun(unit: number): boolean {
  return unit > SPACE && unit < DELETE
}

/**
 * Whether a run has what every token and every authorization has: a digit, a `-`, `_` or `.` that something follows, or
 * the `A` that AWS keys and Google's begin with. Most long runs are words, and have none of them.
 */
function mayHoldToken(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i)
    if ((unit >= ZERO && unit <= NINE) || unit === UPPER_A) return true
    if ((unit === UNDERSCORE || unit === HYPHEN || unit === DOT) && i < end - 1) return true
  }
  return false
}

/** The credentials of a run; what says that it is one may stand in front of it. */
function findBetween(text: string, start: number, end: number): TextSpan[] {
  const from = Math.max(0, start - MAX_LEAD)
  return findCredentials(text.slice(from, end)).map(([a, b]) => [from + a, from + b])
}

const MIN_RUN = 15
const MAX_LEAD = 24
const SPACE = 0x20
const HYPHEN = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const UPPER_A = 0x41
const UNDERSCORE = 0x5f
const DELETE = 0x7f
