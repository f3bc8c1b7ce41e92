import { findCredentials } from './credentials.ts'
import { findAssignedSecrets, type TextSpan } from './secrets/assigned-secrets.ts'

/**
 * Replaces what looks like a secret with `mask`: credentials recognized by their shape, and values assigned
 * to secret names (`DB_PASSWORD=hunter2`).
 */
export function maskCredentials(text: string, mask: string): string {
  const spans = [...findInRuns(text), ...(mayHoldKey(text) ? findCredentials(text) : [])]
  if (spans.length === 0) return text
  let masked = ''
  let end = 0
  for (const [from, to] of spans.sort(([a], [b]) => a - b)) {
    if (from >= end) masked += text.slice(end, from) + mask
    end = Math.max(end, to)
  }
  return masked + text.slice(end)
}

/**
 * Whether a text may contain a private key. Keys span several lines; other secrets stay on one, mostly within
 * one run of ASCII without blanks.
 */
function mayHoldKey(text: string): boolean {
  return text.includes('PRIVATE KEY') || text.includes('PuTTY-User-Key')
}

/**
 * Returns the spans of secrets on one line. It inspects only long runs that are not all letters, and the
 * surroundings of `@`, `=` and `:`.
 */
function findInRuns(text: string): TextSpan[] {
  const spans: TextSpan[] = [...findAssignedSecrets(text)]
  for (const [start, end] of longRuns(text)) {
    if (mayHoldToken(text, start, end)) spans.push(...findBetween(text, start, end))
  }
  let end = 0
  for (const at of findSigns(text, '@')) {
    if (at < end) continue
    end = findRunEnd(text, at)
    spans.push(...findBetween(text, findRunStart(text, at), end))
  }
  return spans
}

function* findSigns(text: string, sign: string): Generator<number> {
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) yield at
}

/**
 * Yields runs of MIN_RUN or more characters. Probing every MIN_RUN-th character finds each of them and skips
 * most other text.
 */
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

/** Returns the start of the run that ends before `at`, but not less than `from`. */
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

/** Whether a character is printable ASCII other than the space. */
function isInRun(unit: number): boolean {
  return unit > SPACE && unit < DELETE
}

/**
 * Whether a run has a character that every token and every authorization value has: a digit, a `-`, `_` or
 * `.` that is not the last character, or the `A` with which AWS and Google keys begin. Most long runs are
 * words without any of these.
 */
function mayHoldToken(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i)
    if ((unit >= ZERO && unit <= NINE) || unit === UPPER_A) return true
    if ((unit === UNDERSCORE || unit === HYPHEN || unit === DOT) && i < end - 1) return true
  }
  return false
}

/**
 * Returns the credentials of a run. It includes some text before the run, which may hold the keyword that
 * identifies them.
 */
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
