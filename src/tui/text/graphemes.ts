import stringWidth from 'string-width'
import { lazy } from './lazy.ts'

/** What a person calls a character: where it begins, and how many columns it takes. */
export interface Grapheme {
  text: string
  start: number
  width: number
}

/** The graphemes of a line, or of a text whose line feeds count as none: they have no width. */
export function* graphemesOf(text: string): Generator<Grapheme> {
  if (!UNUSUAL.test(text)) {
    for (let start = 0; start < text.length; start++) yield toGrapheme(text[start]!, start)
    return
  }
  for (const { segment, index } of segmenter().segment(text)) yield toGrapheme(segment, index)
}

/** The end of the grapheme that begins, or lies, at an offset; the text's end at its end. */
export function nextBoundary(text: string, at: number): number {
  if (at >= text.length) return text.length
  if (isPlain(text, at) && (at + 1 === text.length || isPlain(text, at + 1))) return at + 1
  const { start, line } = lineAround(text, at)
  if (at === start + line.length) return at + 1
  const found = segmenter()
    .segment(line)
    .containing(at - start)!
  return start + found.index + found.segment.length
}

/** The start of the grapheme before an offset; 0 at the text's start. */
export function previousBoundary(text: string, at: number): number {
  if (at <= 0) return 0
  if (isPlain(text, at - 1) && (at === 1 || isPlain(text, at - 2))) return at - 1
  const { start, line } = lineAround(text, at - 1)
  if (at - 1 === start + line.length) return at - 1
  return (
    start +
    segmenter()
      .segment(line)
      .containing(at - 1 - start)!.index
  )
}

/** The offset itself when it is between two graphemes, else the end of the one it is in. */
export function toBoundary(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  const end = nextBoundary(text, at - 1)
  return end > at ? end : at
}

function toGrapheme(text: string, start: number): Grapheme {
  if (text.length > 1) return { text, start, width: stringWidth(text) }
  if (NARROW.test(text)) return { text, start, width: 1 }
  return { text, start, width: WIDE.test(text) ? 2 : stringWidth(text) }
}

/** The line that holds an offset, without its line feed; an offset at the line feed is at its end. */
function lineAround(text: string, at: number): { start: number; line: string } {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  return { start, line: text.slice(start, end < 0 ? text.length : end) }
}

/** Such a character is a grapheme by itself beside another of them. */
function isPlain(text: string, at: number): boolean {
  return text[at] === '\n' || !UNUSUAL.test(text[at]!)
}

// Most texts are made of these, and need neither a segmenter nor tables of emoji, which take their time to load.

/** ASCII, Latin, Greek, Cyrillic, Hebrew and Arabic letters, and punctuation. */
const NARROW =
  /[ -~\u00a1-\u00ac\u00ae-\u024f\u0391-\u03a1\u03b1-\u03c9\u0400-\u045f\u05d0-\u05ea\u0621-\u063a\u2010-\u2027]/
/** Kana, Chinese and Japanese characters, Korean syllables, full-width forms. */
const WIDE = /[\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]/
/** Anything else. */
const UNUSUAL = new RegExp(`[^${NARROW.source.slice(1, -1)}${WIDE.source.slice(1, -1)}]`)

const segmenter = lazy(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))
