import { CharacterTable, composeText } from './characters.ts'
import { TermBuffer } from './term-buffer.ts'

/** Where a word of a query stands in a text, in UTF-16 units: begin and end. */
export interface WordMatch {
  from: number
  to: number
  /** Which word of the query. */
  word: number
}

/** The words of a query, found in texts as an index finds them: folded, and as parts of names. */
export class QueryWords {
  readonly #query: TermBuffer
  readonly #text: TermBuffer
  /** Different words, by their places in `#query`. */
  readonly #words: number[] = []
  /** 1 for what the hash of a word ends in: nearly all terms of a text are ruled out without a look at the words. */
  readonly #mayBe = new Uint8Array(HASH_BITS + 1)

  /** A table that is there already need not be made anew. */
  constructor(query: string, table = new CharacterTable()) {
    this.#query = new TermBuffer(table)
    this.#text = new TermBuffer(table)
    this.#query.fill(query, 'query')
    const { count, hashes } = this.#query
    for (let i = 0; i < count; i++) {
      if (this.#findWord(this.#query, i) !== undefined) continue
      this.#words.push(i)
      this.#mayBe[hashes[i]! & HASH_BITS] = 1
    }
  }

  /** By where they end; places may overlap. The text is one that `composeText` leaves as it is. */
  findIn(text: string): WordMatch[] {
    if (this.#words.length === 0) return []
    const terms = this.#text
    terms.fill(text, 'document')
    const places: WordMatch[] = []
    for (let i = 0; i < terms.count; i++) {
      const word = this.#findWord(terms, i)
      if (word !== undefined) places.push({ from: terms.froms[i]!, to: terms.tos[i]!, word })
    }
    return places
  }

  #findWord(terms: TermBuffer, i: number): number | undefined {
    if (this.#mayBe[terms.hashes[i]! & HASH_BITS] === 0) return undefined
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

/** Where words of a query stand in a text: pairs of byte offsets (UTF-8), begin and end, rising; never overlapping. */
export function matchesIn(text: string, query: string): number[] {
  // words of a text that is not composed cannot be found at their places
  return composeText(text) === text ? toByteRanges(text, new QueryWords(query).findIn(text)) : []
}

/** Places as pairs of byte offsets (UTF-8), rising; what overlaps or touches is one. */
export function toByteRanges(text: string, places: readonly WordMatch[]): number[] {
  const sorted = places.toSorted((a, b) => a.from - b.from)
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
