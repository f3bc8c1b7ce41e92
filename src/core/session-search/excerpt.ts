import { maskCredentials } from '../base/mask-credentials.ts'
import { sanitize } from '../base/sanitize.ts'
import { composeText } from '../search/terms/characters.ts'
import { type QueryWords, toByteRanges, type WordPlace } from '../search/terms/query-words.ts'
import { cutAfter, cutBefore } from './cut-characters.ts'
import { type Excerpt, MAX_SNIPPET_BYTES } from './types.ts'

/** A part of a text that can be shown anywhere. */
export type Snippet = Pick<Excerpt, 'snippet' | 'truncated' | 'matches'>

/**
 * What of a text matches best: around the most different words of the query that stand together.
 *
 * `…` is where something was cut off. No control characters, and no secrets.
 */
export function matchingSnippet(text: string, words: QueryWords): Snippet {
  const shown = toShown(text)
  const places = words.placesIn(shown).sort((a, b) => a.from - b.from)
  if (Buffer.byteLength(shown) <= MAX_SNIPPET_BYTES) return whole(shown, places)
  const { from, to } = bestPassage(shown, places)
  const snippet = cutOut(shown, from, to)
  return { snippet, truncated: true, matches: toByteRanges(snippet, words.placesIn(snippet)) }
}

/** How a text begins; otherwise as `matchingSnippet`. Without words nothing matches. */
export function leadingSnippet(text: string, words: QueryWords | undefined): Snippet {
  const shown = toShown(text.slice(0, MAX_LEAD))
  const isWhole = text.length <= MAX_LEAD && Buffer.byteLength(shown) <= MAX_SNIPPET_BYTES
  const snippet = isWhole ? shown : cutOut(shown, 0, 0)
  return {
    snippet,
    truncated: !isWhole,
    matches: words ? toByteRanges(snippet, words.placesIn(snippet)) : [],
  }
}

function whole(shown: string, places: readonly WordPlace[]): Snippet {
  return { snippet: shown, truncated: false, matches: toByteRanges(shown, places) }
}

/** Secrets first: what stands between their parts may be a control character. */
function toShown(text: string): string {
  return composeText(sanitize(maskCredentials(text.toWellFormed(), MASK)))
}

/** The first passage with the most different words that fits; empty, at the beginning, when there are none. */
function bestPassage(text: string, places: readonly WordPlace[]): { from: number; to: number } {
  const counts = new Map<number, number>()
  let best = { from: 0, to: 0 }
  let most = 0
  let first = 0
  for (const place of places) {
    counts.set(place.word, (counts.get(place.word) ?? 0) + 1)
    while (first < places.length && !fits(text, places[first]!.from, place.to)) {
      const { word } = places[first++]!
      const left = counts.get(word)! - 1
      if (left === 0) counts.delete(word)
      else counts.set(word, left)
    }
    if (counts.size > most) {
      most = counts.size
      best = { from: places[first]!.from, to: place.to }
    }
  }
  return best
}

function fits(text: string, from: number, to: number): boolean {
  if (to - from <= MAX_PASSAGE / 3) return true
  return to - from <= MAX_PASSAGE && Buffer.byteLength(text.slice(from, to)) <= MAX_PASSAGE
}

/** The passage with as much around it as there is room for: a third in front, the rest behind it. */
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

/** So many bytes further back, or the beginning. */
function backBy(text: string, at: number, bytes: number): number {
  let left = bytes
  let start = at
  while (start > 0) {
    left -= bytesOf(text.charCodeAt(start - 1))
    if (left < 0) return start
    start--
  }
  return start
}

function forwardBy(text: string, at: number, bytes: number): number {
  let left = bytes
  let end = at
  while (end < text.length) {
    left -= bytesOf(text.charCodeAt(end))
    if (left < 0) return end
    end++
  }
  return end
}

/** UTF-8 bytes of a unit; of a character of two units each has half. */
function bytesOf(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
}

function wordAfter(text: string, at: number): number {
  const blank = text.slice(at, at + MAX_WORD).search(/\s/)
  return blank < 0 ? at : at + blank
}

function wordBefore(text: string, at: number): number {
  const piece = text.slice(Math.max(0, at - MAX_WORD), at)
  const kept = piece.replace(/\S*$/, '')
  return kept === '' ? at : at - piece.length + kept.length
}

const MASK = '***'
const ELLIPSIS = '…'
const ELLIPSIS_BYTES = 3
/** UTF-16 units that are looked at of a message in which nothing is searched. */
const MAX_LEAD = 2048
const MAX_PASSAGE = 800
const MAX_WORD = 24
