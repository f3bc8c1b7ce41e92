import { Sanitizer } from '../core/base/sanitize.ts'
import { colorize, type Paint } from './color.ts'

/** A text with pairs of byte offsets (UTF-8), in ascending order: the start and end of each match. */
export interface MarkedText {
  text: string
  matches: readonly number[]
}

/** The style of a printed excerpt. */
export interface ExcerptStyle {
  /** The maximum number of columns. */
  width: number
  color: boolean
  /** Returns the number of columns of a text, as string-width counts them. */
  measureWidth(text: string): number
}

/**
 * Renders a marked text on one line, truncated to a width around its first match, with the matches
 * highlighted.
 */
export function excerptLine(marked: MarkedText, { width, color, measureWidth }: ExcerptStyle): string {
  const pieces = toPieces(cropToFirstMatch(marked, width))
  const chars = pieces.flatMap(({ text, isMatch }) => [...text].map((char) => ({ char, isMatch })))
  const shown = fitChars(chars, width, measureWidth)
  let line = ''
  for (let at = 0; at < shown.length; ) {
    const { isMatch } = shown[at]!
    let end = at
    while (end < shown.length && shown[end]!.isMatch === isMatch) end++
    const part = joinChars(shown.slice(at, end))
    line += isMatch ? highlight(part, color) : part
    at = end
  }
  return line
}

interface Piece {
  text: string
  isMatch: boolean
}

interface Char {
  char: string
  isMatch: boolean
}

/** Splits a text into pieces, removes terminal control sequences and collapses white space. */
function toPieces({ text, matches }: MarkedText): Piece[] {
  const bytes = Buffer.from(text)
  const sanitizer = new Sanitizer() // shared by all pieces: a match may be inside a control sequence
  const pieces: Piece[] = []
  let at = 0
  const add = (end: number, isMatch: boolean) => {
    const text = sanitizer.push(bytes.subarray(at, Math.max(at, end)).toString()).replaceAll(/\s+/g, ' ')
    if (end > at) pieces.push({ text, isMatch })
    at = Math.max(at, end)
  }
  for (let index = 0; index + 1 < matches.length; index += 2) {
    add(matches[index]!, false)
    add(matches[index + 1]!, true)
  }
  add(bytes.length, false)
  return trimEnds(pieces)
}

function trimEnds(pieces: readonly Piece[]): Piece[] {
  return pieces.map(({ text, isMatch }, index) => {
    const start = index === 0 ? text.trimStart() : text
    return { text: index === pieces.length - 1 ? start.trimEnd() : start, isMatch }
  })
}

/** Crops a long text to what could be visible, so that not all of it is measured, and adjusts the offsets. */
function cropToFirstMatch(marked: MarkedText, width: number): MarkedText {
  const bytes = Buffer.from(marked.text)
  const span = width * MAX_CHAR_BYTES
  const first = marked.matches[0] ?? 0
  if (!Number.isFinite(width) || bytes.length <= 2 * span) return marked
  let from = Math.max(0, first - span)
  while (from < first && isInsideChar(bytes[from]!)) from++
  let to = Math.min(bytes.length, first + span)
  while (to < bytes.length && isInsideChar(bytes[to]!)) to++
  const inside = marked.matches.map((offset) => Math.min(offset, to) - from)
  const [before, behind] = [from > 0 ? '…' : '', to < bytes.length ? '…' : '']
  const shift = Buffer.byteLength(before)
  return {
    text: before + bytes.subarray(from, to).toString() + behind,
    matches: inside.map((offset) => offset + shift),
  }
}

function isInsideChar(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/**
 * Returns the characters that fit: those around the first match, which is a third of the way in unless the
 * text ends before.
 */
function fitChars(
  chars: readonly Char[],
  width: number,
  measureWidth: ExcerptStyle['measureWidth'],
): readonly Char[] {
  if (!Number.isFinite(width) || measureWidth(joinChars(chars)) <= width) return chars
  const first = Math.max(
    0,
    chars.findIndex(({ isMatch }) => isMatch),
  )
  const behind = measureWidth(joinChars(chars.slice(first)))
  const room = Math.max(Math.floor(width / 3), width - 1 - behind)
  const from = findStart(chars, { first, room }, measureWidth)
  const shown: Char[] = from > 0 ? [ELLIPSIS] : []
  let left = width - shown.length
  for (let at = from; at < chars.length; at++) {
    const charWidth = measureWidth(chars[at]!.char)
    if (charWidth > left - (at < chars.length - 1 ? 1 : 0)) return [...shown, ELLIPSIS]
    shown.push(chars[at]!)
    left -= charWidth
  }
  return shown
}

/** Returns where to start so that the match is visible: at a word, if one starts on the way. */
function findStart(
  chars: readonly Char[],
  { first, room }: { first: number; room: number },
  measureWidth: ExcerptStyle['measureWidth'],
): number {
  let from = first
  for (let left = room; from > 0; from--) {
    left -= measureWidth(chars[from - 1]!.char)
    if (left < 0) break
  }
  if (from === 0) return 0
  const space = chars.findIndex(({ char }, at) => at >= from && at < first && char === ' ')
  return space < 0 ? from : space + 1
}

function joinChars(chars: readonly Char[]): string {
  return chars.map(({ char }) => char).join('')
}

function highlight(text: string, color: boolean): string {
  const styles: readonly Paint[] = ['bold', 'red'] // as grep does
  return styles.reduce((painted, style) => colorize(painted, style, color), text)
}

const ELLIPSIS: Char = { char: '…', isMatch: false }
const MAX_CHAR_BYTES = 4
