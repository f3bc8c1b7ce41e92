import type { DiffLine } from './diff-lines.ts'

/** A part of a text, from `start` up to but not including `end`, in code units. */
export interface TextRange {
  start: number
  end: number
}

/**
 * Finds the changed words of each line: removed lines are compared with the added lines that directly follow
 * them, in order. Lines that have little in common have none.
 */
export function findChangedWords(lines: readonly DiffLine[], texts: readonly string[]): TextRange[][] {
  const changed: TextRange[][] = texts.map(() => [])
  const isKind = (at: number, kind: DiffLine['kind']) => lines[at]?.kind === kind
  for (let at = 0; at < lines.length; at++) {
    if (!isKind(at, 'removed')) continue
    let middle = at
    while (isKind(middle, 'removed')) middle++
    let end = middle
    while (isKind(end, 'added')) end++
    for (let pair = 0; pair < Math.min(middle - at, end - middle); pair++) {
      const found = compareWords(texts[at + pair]!, texts[middle + pair]!)
      changed[at + pair] = found.before
      changed[middle + pair] = found.after
    }
    at = end - 1
  }
  return changed
}

/** Paints the ranges of a text; sequences of colors in it do not count. */
export function paintRanges(
  line: string,
  ranges: readonly TextRange[],
  paintWord: (word: string) => string,
): string {
  if (ranges.length === 0) return line
  let at = 0
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC starts a color
  const pieces = line.match(/\x1b\[[\d;]*m|[^\x1b]+/g) ?? []
  return pieces
    .map((piece) => {
      if (piece.startsWith('\x1b')) return piece
      const start = at
      at += piece.length
      return paintPiece(piece, start, { ranges, paintWord })
    })
    .join('')
}

function paintPiece(
  piece: string,
  offset: number,
  { ranges, paintWord }: { ranges: readonly TextRange[]; paintWord: (word: string) => string },
): string {
  let out = ''
  let at = 0
  for (const range of ranges) {
    const start = Math.max(at, range.start - offset)
    const end = Math.min(piece.length, range.end - offset)
    if (start >= end) continue
    out += piece.slice(at, start) + paintWord(piece.slice(start, end))
    at = end
  }
  return out + piece.slice(at)
}

interface ChangedPair {
  before: TextRange[]
  after: TextRange[]
}

/** The maximum words of a line that are compared. */
const MAX_WORDS = 200
/** The minimum share of common characters; with less, the whole line is marked as changed. */
const MIN_COMMON = 0.3

function compareWords(before: string, after: string): ChangedPair {
  const [old, fresh] = [splitWords(before), splitWords(after)]
  if (old.length > MAX_WORDS || fresh.length > MAX_WORDS) return { before: [], after: [] }
  const { inOld, inFresh } = findCommon(old, fresh)
  const common = old.reduce((sum, word, at) => sum + (inOld.has(at) ? word.trim().length : 0), 0)
  const longest = Math.max(...[before, after].map((text) => text.replaceAll(/\s/g, '').length))
  if (common < MIN_COMMON * longest) return { before: [], after: [] }
  return { before: toRanges(old, inOld), after: toRanges(fresh, inFresh) }
}

function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

/** Finds a longest common subsequence; the sets hold the indexes of its words. */
function findCommon(old: readonly string[], fresh: readonly string[]) {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const isSame = old[i] === fresh[j]
      lengths[i]![j] = isSame
        ? lengths[i + 1]![j + 1]! + 1
        : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  const [inOld, inFresh] = [new Set<number>(), new Set<number>()]
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    if (old[i] === fresh[j]) {
      inOld.add(i++)
      inFresh.add(j++)
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++
    else j++
  }
  return { inOld, inFresh }
}

/** Returns the ranges of the words that are not common; blanks between two of them belong to both. */
function toRanges(words: readonly string[], common: ReadonlySet<number>): TextRange[] {
  const ranges: TextRange[] = []
  let start = 0
  for (const [at, word] of words.entries()) {
    const end = start + word.length
    const last = ranges.at(-1)
    if (!common.has(at)) {
      const isNext = last && (last.end === start || isBlankBetween(words, at, { last, start }))
      if (isNext) last.end = end
      else ranges.push({ start, end })
    }
    start = end
  }
  return ranges.map((range) => withoutBlanks(range, words.join('')))
}

/** Leaves out blanks at the ends of a range that has more than blanks. */
function withoutBlanks({ start, end }: TextRange, text: string): TextRange {
  const part = text.slice(start, end)
  if (part.trim() === '') return { start, end }
  return {
    start: start + part.length - part.trimStart().length,
    end: end - part.length + part.trimEnd().length,
  }
}

function isBlankBetween(
  words: readonly string[],
  at: number,
  { last, start }: { last: TextRange; start: number },
): boolean {
  const before = words[at - 1] ?? ''
  return before.trim() === '' && last.end === start - before.length
}
