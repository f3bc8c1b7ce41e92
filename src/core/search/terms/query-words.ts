import { CharacterTable, composeText } from './characters.ts'
import { TermBuffer } from './term-buffer.ts'

/** The position of a query word in a text, in UTF-16 units: begin and end. */
export interface WordMatch {
  from: number
  to: number
  /** The index of the term in the query's term buffer. */
  word: number
}

/** Finds the words of a query in texts by the rules of the index: folded, and as parts of names. */
export class QueryWords {
  readonly #query: TermBuffer
  readonly #text: TermBuffer
  /** The distinct words, as indexes into `#query`. */
  readonly #words: number[] = []
  /**
   * A filter on the low bits of the hashes: it rules out nearly all terms of a text without comparing words.
   */
  readonly #hashFilter = new Uint8Array(HASH_BITS + 1)

  /** Reuses a character table where one exists, because building it takes time. */
  constructor(query: string, table = new CharacterTable()) {
    this.#query = new TermBuffer(table)
    this.#text = new TermBuffer(table)
    this.#query.fill(query, 'query')
    const { count, hashes } = this.#query
    for (let i = 0; i < count; i++) {
      if (this.#findWord(this.#query, i) !== undefined) continue
      this.#words.push(i)
      this.#hashFilter[hashes[i]! & HASH_BITS] = 1
    }
  }

  /**
   * Returns the matches ordered by their end; they may overlap. The text must be in the form of
   * `composeText`.
   */
  findIn(text: string): WordMatch[] {
    if (this.#words.length === 0) return []
    const terms = this.#text
    terms.fill(text, 'document')
    const matches: WordMatch[] = []
    for (let i = 0; i < terms.count; i++) {
      const word = this.#findWord(terms, i)
      if (word !== undefined) matches.push({ from: terms.froms[i]!, to: terms.tos[i]!, word })
    }
    return matches
  }

  #findWord(terms: TermBuffer, i: number): number | undefined {
    if (this.#hashFilter[terms.hashes[i]! & HASH_BITS] === 0) return undefined
    return this.#words.find((word) => this.#isSame(terms, i, word))
  }

  #isSame(terms: TermBuffer, i: number, word: number): boolean {
    const query = this.#query
    const start = terms.starts[i]!
    const length = terms.ends[i]! - start
    const other = query.starts[word]!
    if (query.ends[word]! - other !== length) return false
    for (let k = 0; k < length; k++) if (terms.bytes[start + k] !== query.bytes[other + k]) return false
    return true
  }
}

const HASH_BITS = 0x3ff

/**
 * Returns the matches of a query in a text: pairs of UTF-8 byte offsets, begin and end, ascending and not
 * overlapping.
 */
export function matchesIn(text: string, query: string): number[] {
  // positions in the composed text are not positions in a text that changes when composed
  return composeText(text) === text ? toByteRanges(text, new QueryWords(query).findIn(text)) : []
}

/** Converts matches to pairs of UTF-8 byte offsets, ascending; merges matches that overlap or touch. */
export function toByteRanges(text: string, matches: readonly WordMatch[]): number[] {
  const sorted = matches.toSorted((a, b) => a.from - b.from)
  const ranges: number[] = []
  let unit = 0
  let byte = 0
  let end = -1
  const advance = (to: number) => {
    byte += Buffer.byteLength(text.slice(unit, to))
    unit = to
    return byte
  }
  for (const { from, to } of sorted) {
    if (to <= end) continue
    if (from > end) ranges.push(advance(from), advance(to))
    else ranges[ranges.length - 1] = advance(to)
    end = to
  }
  return ranges
}
