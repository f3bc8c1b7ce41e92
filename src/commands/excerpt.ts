import { Sanitizer } from '../core/base/sanitize.ts'
import { colorize, type Paint } from './color.ts'

/** A text, and pairs of byte offsets (UTF-8) in it: where what was looked for begins and ends, rising. */
export interface MarkedText {
  text: string
  matches: readonly number[]
}

/** How an excerpt is printed. */
export interface ExcerptStyle {
  /** Columns at most. */
  width: number
  color: boolean
  /** Columns of a text, such as string-width has it. */
  widthOf(text: string): number
}

/** A marked text on one line, cut to a width around its first match, with the matches in colour. */
export function excerptLine(marked: MarkedText, { width, color, widthOf }: ExcerptStyle): string {
  const pieces = toPieces(cropToFirstMatch(marked, width))
  const chars = pieces.flatMap(({ text, isMatch }) => [...text].map((char) => ({ char, isMatch })))
  const shown = fit(chars, width, widthOf)
  let line = ''
  for (let at = 0; at < shown.length; ) {
    const { isMatch } = shown[at]!
    let end = at
    while (end < shown.length && shown[end]!.isMatch === isMatch) end++
    const part = joinChars(shown.slice(at, end))
    line += isMatch ? emphasise(part, color) : part
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

/** Pieces without what a terminal obeys, white space made single spaces. */
function toPieces({ text, matches }: MarkedText): Piece[] {
  const bytes = Buffer.from(text)
  const sanitizer = new Sanitizer() // of all pieces: a match may stand in what a terminal would obey
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
  return withoutEnds(pieces)
}

function withoutEnds(pieces: readonly Piece[]): Piece[] {
  return pieces.map(({ text, isMatch }, index) => {
    const start = index === 0 ? text.trimStart() : text
    return { text: index === pieces.length - 1 ? start.trimEnd() : start, isMatch }
  })
}

/** As much of a long text as could be shown, so that not all of it is measured; offsets follow. */
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

/** The characters that fit: those around the first match, which is a third of the way in unless the text ends before. */
function fit(chars: readonly Char[], width: number, widthOf: ExcerptStyle['widthOf']): readonly Char[] {
  if (!Number.isFinite(width) || widthOf(joinChars(chars)) <= width) return chars
  const first = Math.max(
    0,
    chars.findIndex(({ isMatch }) => isMatch),
  )
  const behind = widthOf(joinChars(chars.slice(first)))
  const room = Math.max(Math.floor(width / 3), width - 1 - behind)
  const from = findStart(chars, { first, room }, widthOf)
  const shown: Char[] = from > 0 ? [ELLIPSIS] : []
  let left = width - shown.length
  for (let at = from; at < chars.length; at++) {
    const taken = widthOf(chars[at]!.char)
    if (taken > left - (at < chars.length - 1 ? 1 : 0)) return [...shown, ELLIPSIS]
    shown.push(chars[at]!)
    left -= taken
  }
  return shown
}

/** Where to begin so that the match is seen: at a word, where there is one on the way. */
function findStart(
  chars: readonly Char[],
  { first, room }: { first: number; room: number },
  widthOf: ExcerptStyle['widthOf'],
): number {
  let from = first
  for (let left = room; from > 0; from--) {
    left -= widthOf(chars[from - 1]!.char)
    if (left < 0) break
  }
  if (from === 0) return 0
  const space = chars.findIndex(({ char }, at) => at >= from && at < first && char === ' ')
  return space < 0 ? from : space + 1
}

function joinChars(chars: readonly Char[]): string {
  return chars.map(({ char }) => char).join('')
}

function emphasise(text: string, color: boolean): string {
  const styles: readonly Paint[] = ['bold', 'red'] // as grep has it
  return styles.reduce((painted, style) => colorize(painted, style, color), text)
}

const ELLIPSIS: Char = { char: '…', isMatch: false }
const MAX_CHAR_BYTES = 4
