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
  if (ASCII.test(text)) {
    for (let start = 0; start < text.length; start++) yield { text: text[start]!, start, width: 1 }
    return
  }
  for (const { segment, index } of segmenter().segment(text))
    yield { text: segment, start: index, width: graphemeWidth(segment) }
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

/** Columns of one grapheme; what most texts are made of is known without looking into tables. */
function graphemeWidth(grapheme: string): number {
  if (grapheme.length > 1) return stringWidth(grapheme)
  if (NARROW.test(grapheme)) return 1
  return WIDE.test(grapheme) ? 2 : stringWidth(grapheme)
}

/** ASCII, Latin, Greek, Cyrillic, Hebrew and Arabic letters. */
const NARROW = /[ -~\u00c0-\u024f\u0391-\u03a1\u03b1-\u03c9\u0400-\u045f\u05d0-\u05ea\u0621-\u063a]/
/** Kana, Chinese and Japanese characters, Korean syllables, full-width forms. */
const WIDE = /[\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]/

/** The line that holds an offset, without its line feed; an offset at the line feed is at its end. */
function lineAround(text: string, at: number): { start: number; line: string } {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  return { start, line: text.slice(start, end < 0 ? text.length : end) }
}

/** ASCII never extends what stands before it, but for a few signs that take what follows. */
function isPlain(text: string, at: number): boolean {
  return text.charCodeAt(at) < 0x80
}

const ASCII = /^[\x20-\x7e]*$/
const segmenter = lazy(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))
