import { findLineStart, lineEnd } from '../words.ts'

/** A range of a text; the end is exclusive. */
export interface ObjectRange {
  start: number
  end: number
}

/**
 * Returns the range of a text object at the caret: `iw`, `i"`, `a(` and their like. Undefined when there
 * is none. Quotes and words are looked for in the line, brackets in the whole text.
 */
export function findTextObject(name: string, text: string, caret: number): ObjectRange | undefined {
  const [reach = '', kind = ''] = name
  const isAround = reach === 'a'
  if (kind === 'w' || kind === 'W') return findWordObject(text, caret, { isAround, isBig: kind === 'W' })
  if (kind !== '' && `"'\``.includes(kind)) return findQuoted(text, caret, { isAround, quote: kind })
  const pair = kind === '' ? undefined : PAIRS.find((one) => one.includes(kind))
  return pair === undefined
    ? undefined
    : findBracketed(text, caret, { isAround, open: pair[0]!, close: pair[1]! })
}

/** Brackets and their other names in vim. */
const PAIRS = ['()b', '[]', '{}B', '<>']

function findWordObject(
  text: string,
  caret: number,
  { isAround, isBig }: { isAround: boolean; isBig: boolean },
): ObjectRange {
  const start = findLineStart(text, caret)
  const line = text.slice(start, lineEnd(text, caret))
  const pattern = isBig ? /\s+|\S+/g : /\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+/gu
  const pieces = [...line.matchAll(pattern)].map(({ index, 0: piece }) => ({
    start: start + index,
    end: start + index + piece.length,
    isBlank: /^\s/.test(piece),
  }))
  const at = pieces.findIndex((piece) => piece.end > caret)
  const piece = pieces[at]
  if (!piece) return { start: caret, end: caret }
  const next = pieces[at + 1]
  const before = pieces[at - 1]
  if (!isAround) return piece
  if (next && (next.isBlank || piece.isBlank)) return { start: piece.start, end: next.end }
  return { start: before?.isBlank ? before.start : piece.start, end: piece.end }
}

function findQuoted(
  text: string,
  caret: number,
  { isAround, quote }: { isAround: boolean; quote: string },
): ObjectRange | undefined {
  const first = findLineStart(text, caret)
  const end = lineEnd(text, caret)
  for (let open = text.indexOf(quote, first); open >= 0 && open < end; ) {
    const close = text.indexOf(quote, open + 1)
    if (close < 0 || close >= end) return undefined
    if (close >= caret) return isAround ? { start: open, end: close + 1 } : { start: open + 1, end: close }
    open = text.indexOf(quote, close + 1)
  }
  return undefined
}

function findBracketed(
  text: string,
  caret: number,
  { isAround, open, close }: { isAround: boolean; open: string; close: string },
): ObjectRange | undefined {
  const start = text[caret] === open ? caret : findUnmatched(text, caret, { from: close, to: open, step: -1 })
  if (start === undefined) return undefined
  const end = findUnmatched(text, start, { from: open, to: close, step: 1 })
  if (end === undefined) return undefined
  return isAround ? { start, end: end + 1 } : { start: start + 1, end }
}

/** Returns the offset of the nearest bracket `to` that does not belong to a bracket `from` in between. */
function findUnmatched(
  text: string,
  caret: number,
  { from, to, step }: { from: string; to: string; step: 1 | -1 },
): number | undefined {
  let depth = 0
  for (let at = caret + step; at >= 0 && at < text.length; at += step) {
    if (text[at] === from) depth++
    else if (text[at] === to && depth-- === 0) return at
  }
  return undefined
}
