import { takeEnd, takeStart } from '../../core/base/truncate.ts'
import type { Piece } from './types.ts'

/**
 * The start and end of a match in a text, in UTF-16 units; ranges are in ascending order and do not overlap.
 */
export type Range = readonly [start: number, end: number]

/** The number of UTF-16 units that an excerpt keeps before and after its first match. */
const BEFORE = 200
const BEHIND = 800

/**
 * Splits the text around its first match into matching and other pieces. An end that is left out becomes `…`.
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

/** Converts pairs of byte offsets from the wire into ranges; invalid pairs are skipped. */
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

/**
 * Finds a phrase in a text, case-insensitively. Returns nothing when lower case changes the length of the
 * text, because offsets would be wrong.
 */
export function findRanges(text: string, phrase: string): Range[] {
  const [lower, needle] = [text.toLowerCase(), phrase.toLowerCase()]
  if (needle === '' || lower.length !== text.length) return []
  const ranges: Range[] = []
  for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + needle.length)) {
    ranges.push([at, at + needle.length])
    if (ranges.length === MAX_RANGES) break
  }
  return ranges
}

const MAX_RANGES = 100

/** Maps byte offsets to UTF-16 offsets; those inside a character are left out. */
function toTextOffsets(text: string, offsets: ReadonlySet<number>): Map<number, number> {
  const places = new Map<number, number>()
  let bytes = 0
  let at = 0
  for (const char of text) {
    if (offsets.has(bytes)) places.set(bytes, at)
    bytes += countUtf8Bytes(char.codePointAt(0)!)
    at += char.length
  }
  if (offsets.has(bytes)) places.set(bytes, at)
  return places
}

/** Counts the UTF-8 bytes of a code point; half a surrogate pair is encoded as U+FFFD. */
function countUtf8Bytes(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}
