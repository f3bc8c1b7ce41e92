import stringWidth from 'string-width'
import { isSimple, simpleWidth } from './characters.ts'
import { lazyValue } from './lazy-value.ts'

/** A user-perceived character, its offset, and its width in columns. */
export interface Grapheme {
  text: string
  start: number
  width: number
}

/** Iterates over the graphemes of a text. Line feeds have no width. */
export function* iterateGraphemes(text: string): Generator<Grapheme> {
  if (isSimple(text)) {
    for (let start = 0; start < text.length; start++) yield toGrapheme(text[start]!, start)
    return
  }
  for (const { segment, index } of segmenter().segment(text)) yield toGrapheme(segment, index)
}

/** Splits a text into graphemes. */
export function toGraphemes(text: string): readonly string[] {
  return isSimple(text) ? text.split('') : Array.from(iterateGraphemes(text), (grapheme) => grapheme.text)
}

/** Returns the end of the grapheme at or around an offset; at the end of the text, that end. */
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

/** Returns the start of the grapheme before an offset; 0 at the start of the text. */
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

/**
 * Returns the offset itself when it lies between two graphemes, otherwise the end of the grapheme around it.
 */
export function toBoundary(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  const end = nextBoundary(text, at - 1)
  return end > at ? end : at
}

function toGrapheme(text: string, start: number): Grapheme {
  const isOne = text.length === 1 && isSimple(text)
  return { text, start, width: isOne ? simpleWidth(text) : stringWidth(text) }
}

/**
 * Returns the line around an offset, without its line feed. An offset at the line feed belongs to that line.
 */
function lineAround(text: string, at: number): { start: number; line: string } {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  return { start, line: text.slice(start, end < 0 ? text.length : end) }
}

/** Whether the character at an offset is always a grapheme when its neighbor is simple, too. */
function isPlain(text: string, at: number): boolean {
  return text[at] === '\n' || isSimple(text[at]!)
}

const segmenter = lazyValue(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))
