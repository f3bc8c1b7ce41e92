import { takeEnd, takeStart } from '../../core/base/truncate.ts'
import type { Piece } from './types.ts'

/** Where something begins and ends in a text, in UTF-16 units; rising, none within another. */
export type Range = readonly [start: number, end: number]

/** Units of a text that are kept before its first match, and behind it. */
const BEFORE = 200
const BEHIND = 800

/**
 * A text around the first thing that was found in it, taken apart by what was found. What is left out at an end is `…`.
 */
export function toPieces(text: string, ranges: readonly Range[]): Piece[] {
  const first = ranges[0]?.[0] ?? 0
  const before = takeEnd(text.slice(0, first), BEFORE)
  const start = first - before.length
  const shown = takeStart(text.slice(start), before.length + BEHIND)
  const end = start + shown.length
  const pieces: Piece[] = start > 0 ? [{ text: '…', isMatch: false }] : []
  let at = start
  for (const [from, to] of ranges.filter(([from, to]) => from >= start && to <= end)) {
    if (from > at) pieces.push({ text: text.slice(at, from), isMatch: false })
    pieces.push({ text: text.slice(from, to), isMatch: true })
    at = to
  }
  if (at < end) pieces.push({ text: text.slice(at, end), isMatch: false })
  return end < text.length ? [...pieces, { text: '…', isMatch: false }] : pieces
}

/** Pairs of byte offsets, as the wire gives them, as places in the text; those that cannot be are left out. */
export function toRanges(text: string, offsets: readonly number[]): Range[] {
  if (offsets.length < 2) return []
  const places = toTextOffsets(text, new Set(offsets))
  const ranges: Range[] = []
  let last = 0
  for (let pair = 0; pair + 1 < offsets.length; pair += 2) {
    const from = places.get(offsets[pair]!)
    const to = places.get(offsets[pair + 1]!)
    if (from === undefined || to === undefined || from < last || to <= from) continue
    ranges.push([from, to])
    last = to
  }
  return ranges
}

/** Where a text holds a phrase, in upper or lower case; nowhere when either is written in other lengths in lower case. */
export function findRanges(text: string, phrase: string): Range[] {
  const [lower, wanted] = [text.toLowerCase(), phrase.toLowerCase()]
  if (wanted === '' || lower.length !== text.length) return []
  const ranges: Range[] = []
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    ranges.push([at, at + wanted.length])
    if (ranges.length === MOST_RANGES) break
  }
  return ranges
}

const MOST_RANGES = 100

/** The places of those byte offsets that lie between two characters. */
function toTextOffsets(text: string, wanted: ReadonlySet<number>): Map<number, number> {
  const places = new Map<number, number>()
  let bytes = 0
  let at = 0
  for (const char of text) {
    if (wanted.has(bytes)) places.set(bytes, at)
    bytes += countUtf8Bytes(char.codePointAt(0)!)
    at += char.length
  }
  if (wanted.has(bytes)) places.set(bytes, at)
  return places
}

/** In UTF-8; half a pair is written as U+FFFD. */
function countUtf8Bytes(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}
