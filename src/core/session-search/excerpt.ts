import { maskCredentials } from '../base/mask-credentials.ts'
import { sanitize } from '../base/sanitize.ts'
import { composeText } from '../search/terms/characters.ts'
import { type QueryWords, toByteRanges, type WordMatch } from '../search/terms/query-words.ts'
import { cutAfter, cutBefore } from './cut-characters.ts'
import { type Excerpt, MAX_SNIPPET_BYTES } from './types.ts'

/** A part of a text that is safe to show anywhere. */
export type Snippet = Pick<Excerpt, 'snippet' | 'truncated' | 'matches'>

/**
 * Returns the best matching part of a text: around the passage that contains the most distinct query words.
 *
 * `…` marks where text was cut off. Control characters are removed and secrets masked.
 */
export function matchingSnippet(text: string, words: QueryWords): Snippet {
  const clean = toClean(text)
  const matches = words.findIn(clean)
  const passage = bestPassage(clean, matches)
  const start = blankBefore(clean, passage.from - MAX_AROUND)
  const near = clean.slice(start, passage.to + MAX_AROUND)
  const masked = maskCredentials(near, MASK)
  const isAll = near.length === clean.length
  if (isAll && Buffer.byteLength(masked) <= MAX_SNIPPET_BYTES) {
    return toSnippet(masked, masked === clean ? matches : words.findIn(masked), false)
  }
  const { from, to } = masked === near ? shift(passage, -start) : bestPassage(masked, words.findIn(masked))
  const snippet = cutOut(masked, from, to)
  return toSnippet(snippet, words.findIn(snippet), true)
}

/** Returns the beginning of a text, otherwise like `matchingSnippet`. Without words there are no matches. */
export function leadingSnippet(text: string, words: QueryWords | undefined): Snippet {
  const head = maskCredentials(toClean(text.slice(0, MAX_LEAD)), MASK)
  const isWhole = text.length <= MAX_LEAD && Buffer.byteLength(head) <= MAX_SNIPPET_BYTES
  const snippet = isWhole ? head : cutOut(head, 0, 0)
  return toSnippet(snippet, words?.findIn(snippet) ?? [], !isWhole)
}

function toSnippet(snippet: string, matches: readonly WordMatch[], truncated: boolean): Snippet {
  return { snippet, truncated, matches: toByteRanges(snippet, matches) }
}

/** Removes control characters, which may be hidden inside secrets and words. */
function toClean(text: string): string {
  return composeText(sanitize(text.toWellFormed()))
}

interface Passage {
  from: number
  to: number
}

function shift({ from, to }: Passage, by: number): Passage {
  return { from: from + by, to: to + by }
}

/**
 * Returns a nearby position at or before `at` that does not split a secret, if there is one. Inside a private
 * key, this is a position before the key.
 */
function blankBefore(text: string, at: number): number {
  if (at <= 0) return 0
  const key = text.lastIndexOf('PRIVATE KEY', at)
  if (key >= 0 && at - key < MAX_KEY) return Math.max(0, key - MAX_WORD)
  for (let start = at; start > 0 && at - start < MAX_KEY; start--) {
    if (text.charCodeAt(start - 1) <= SPACE) return start
  }
  return at
}

/**
 * Returns the first passage with the most distinct words that fits; empty, at the beginning, when there are
 * no matches.
 */
function bestPassage(text: string, found: readonly WordMatch[]): Passage {
  const matches = found.toSorted((a, b) => a.from - b.from)
  const counts = new Map<number, number>()
  let best = { from: 0, to: 0 }
  let most = 0
  let first = 0
  for (const [last, { to, word }] of matches.entries()) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
    for (; first < last && !fits(text, matches[first]!.from, to); first++) drop(counts, matches[first]!.word)
    if (counts.size <= most) continue
    most = counts.size
    const { from } = matches[first]!
    best = { from, to: Math.min(to, cutBefore(text, forwardBy(text, from, MAX_PASSAGE))) }
  }
  return best
}

function drop(counts: Map<number, number>, word: number): void {
  const left = counts.get(word)! - 1
  if (left > 0) counts.set(word, left)
  else counts.delete(word)
}

function fits(text: string, from: number, to: number): boolean {
  if (to - from <= MAX_PASSAGE / 3) return true
  return to - from <= MAX_PASSAGE && Buffer.byteLength(text.slice(from, to)) <= MAX_PASSAGE
}

/** Extends the passage by as much text as fits: a third of it before the passage, the rest after. */
function cutOut(text: string, from: number, to: number): string {
  const room = MAX_SNIPPET_BYTES - 2 * ELLIPSIS_BYTES
  const passage = Buffer.byteLength(text.slice(from, to))
  const lead = backBy(text, from, Math.floor((room - passage) / 3))
  const end = forwardBy(text, to, room - passage - Buffer.byteLength(text.slice(lead, from)))
  const start = end < text.length ? lead : backBy(text, from, room - Buffer.byteLength(text.slice(from, end)))
  const head = start === 0 ? '' : ELLIPSIS
  const tail = end === text.length ? '' : ELLIPSIS
  const first = start === 0 ? 0 : Math.min(from, cutAfter(text, wordAfter(text, start)))
  const last = end === text.length ? end : Math.max(to, cutBefore(text, wordBefore(text, end)))
  return head + text.slice(first, last).trim() + tail
}

/** Moves back by at most `bytes`, no further than the beginning. */
function backBy(text: string, at: number, bytes: number): number {
  if (isAscii(text, at - bytes, at)) return Math.max(0, at - bytes)
  let left = bytes
  let start = at
  while (start > 0) {
    left -= countBytes(text.charCodeAt(start - 1))
    if (left < 0) return start
    start--
  }
  return start
}

function forwardBy(text: string, at: number, bytes: number): number {
  if (isAscii(text, at, at + bytes)) return Math.min(text.length, at + bytes)
  let left = bytes
  let end = at
  while (end < text.length) {
    left -= countBytes(text.charCodeAt(end))
    if (left < 0) return end
    end++
  }
  return end
}

/** Whether a part of a text is ASCII, which nearly every part is; counts it faster than unit by unit. */
function isAscii(text: string, from: number, to: number): boolean {
  const part = text.slice(Math.max(0, from), to)
  return to > from && Buffer.byteLength(part) === part.length
}

/** Returns the UTF-8 bytes of a UTF-16 unit; each half of a surrogate pair counts 2 of the pair's 4. */
function countBytes(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
}

function wordAfter(text: string, at: number): number {
  const blank = text.slice(at, at + MAX_WORD).search(/\s/)
  return blank < 0 ? at : at + blank
}

function wordBefore(text: string, at: number): number {
  const piece = text.slice(Math.max(0, at - MAX_WORD), at)
  const trimmed = piece.replace(/\S*$/, '')
  return trimmed === '' ? at : at - piece.length + trimmed.length
}

const MASK = '***'
const ELLIPSIS = '…'
const ELLIPSIS_BYTES = 3
/** The number of UTF-16 units considered of a message that is not searched for matches. */
const MAX_LEAD = 1536
/** The number of units around a passage that are scanned for secrets: more than a snippet holds. */
const MAX_AROUND = 1536
const MAX_KEY = 8192
const SPACE = 0x20
const MAX_PASSAGE = 800
const MAX_WORD = 24
