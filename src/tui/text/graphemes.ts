import stringWidth from 'string-width'
import { isSimple, simpleWidth } from './characters.ts'
import { lazyValue } from './lazy-value.ts'

/** What a person calls a character: where it begins, and how many columns it takes. */
export interface Grapheme {
  text: string
  start: number
  width: number
}

/** The graphemes of a line, or of a text whose line feeds count as none: they have no width. */
export function* iterateGraphemes(text: string): Generator<Grapheme> {
  if (isSimple(text)) {
    for (let start = 0; start < text.length; start++) yield toGrapheme(text[start]!, start)
    return
  }
  for (const { segment, index } of segmenter().segment(text)) yield toGrapheme(segment, index)
}

/** What a reader takes for one character each. */
export function toGraphemes(text: string): readonly string[] {
  return isSimple(text) ? text.split('') : Array.from(iterateGraphemes(text), (grapheme) => grapheme.text)
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
  const isOne = text.length === 1 && isSimple(text)
  return { text, start, width: isOne ? simpleWidth(text) : stringWidth(text) }
}

/** The line that holds an offset, without its line feed; an offset at the line feed is at its end. */
function lineAround(text: string, at: number): { start: number; line: string } {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  return { start, line: text.slice(start, end < 0 ? text.length : end) }
}

/** Such a character is a grapheme by itself beside another of them. */
function isPlain(text: string, at: number): boolean {
  return text[at] === '\n' || isSimple(text[at]!)
}

const segmenter = lazyValue(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))
