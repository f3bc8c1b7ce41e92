import { isUtf8 } from 'node:buffer'

/** A text, and how its file encodes it. */
export interface FileText {
  /** The text without the byte order mark. */
  text: string
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  hasMark: boolean
}

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark; undefined for any other bytes, and for text that contains
 * a NUL.
 */
export function decodeText(bytes: Buffer): FileText | undefined {
  const mark = MARKS.find(({ bytes: start }) => bytes.subarray(0, start.length).equals(start))
  const { encoding } = mark ?? { encoding: 'utf-8' as const }
  const content = bytes.subarray(mark?.bytes.length ?? 0)
  const text = encoding === 'utf-8' ? fromUtf8(content) : fromUtf16(content, encoding)
  return text === undefined || text.includes('\0')
    ? undefined
    : { text, encoding, hasMark: mark !== undefined }
}

/** Encodes a text; the inverse of decodeText(). */
export function encodeText({ text, encoding, hasMark }: FileText): Buffer {
  const marked = hasMark ? `\ufeff${text}` : text
  if (encoding === 'utf-8') return Buffer.from(marked)
  const bytes = Buffer.from(marked, 'utf16le')
  return encoding === 'utf-16be' ? bytes.swap16() : bytes
}

/** Counts the lines of a text; a last line without a newline counts. */
export function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Returns the number of the line that contains this position, from 1. */
export function lineAt(text: string, position: number): number {
  return linesAt(text, [position])[0]!
}

/** Returns the numbers of the lines that contain these positions, which must be in order. */
export function linesAt(text: string, positions: readonly number[]): number[] {
  let line = 1
  let feed = text.indexOf('\n')
  return positions.map((position) => {
    for (; feed !== -1 && feed < position; feed = text.indexOf('\n', feed + 1)) line++
    return line
  })
}

const MARKS = [
  { encoding: 'utf-8', bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', bytes: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', bytes: Buffer.from([0xfe, 0xff]) },
] as const

function fromUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function fromUtf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): string | undefined {
  if (bytes.length % 2 === 1) return undefined
  const text = (encoding === 'utf-16le' ? bytes : Buffer.from(bytes).swap16()).toString('utf16le')
  return text.isWellFormed() ? text : undefined
}
