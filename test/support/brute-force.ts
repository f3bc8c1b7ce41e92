import { TermBuffer, type TermMode } from '../../src/core/search/terms/term-buffer.ts'
import {
  B,
  type DocumentRow,
  K1,
  MAX_DOCUMENT_TERMS,
  MAX_TERM_COUNT,
  type TextHit,
  type TextQuery,
} from '../../src/core/search/types.ts'

/** A live document of the index under test. */
export interface BruteDocument {
  row: DocumentRow
  text: string
}

/**
 * Computes the exact expected results of a search over these documents, best first, to the last bit: every
 * document is scored in the most obvious way. It shares only the terms of a text with the index.
 */
export class BruteForce {
  readonly #documents: { row: DocumentRow; length: number; counts: Map<string, number> }[]

  readonly #terms: TermBuffer

  /** `terms` may be shared, because creating a buffer takes long. */
  constructor(documents: readonly BruteDocument[], terms = new TermBuffer()) {
    this.#terms = terms
    this.#documents = documents.map(({ row, text }) => {
      const words = toTermTexts(text, 'document', terms)
      return { row, length: Math.min(words.length, MAX_DOCUMENT_TERMS), counts: countTerms(words) }
    })
  }

  search(query: TextQuery): TextHit[] {
    const words = [...new Set(toTermTexts(query.text, 'query', this.#terms))]
    const documents = this.#documents
    const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length
    const idfs = words.map((word) => {
      const df = documents.filter(({ counts }) => counts.has(word)).length
      return Math.log((documents.length - df + 0.5) / (df + 0.5) + 1)
    })
    const hits = documents.flatMap(({ row, length, counts }) => {
      if (!words.some((word) => counts.has(word)) || !isWanted(row, query)) return []
      let sum = 0
      words.forEach((word, i) => {
        const tf = counts.get(word)
        if (tf !== undefined) sum += (idfs[i]! * (K1 + 1) * tf) / (tf + K1 * (1 - B + (B * length) / average))
      })
      return [{ ...row, score: (query.weights?.[row.kind] ?? 1) * sum }]
    })
    const found = hits.filter(({ score }) => score > 0).sort(byRank)
    return (query.collapse ? bestOfGroups(found) : found).slice(0, query.limit)
  }
}

/** Returns the terms of a text, in order, as strings. */
export function toTermTexts(text: string, mode: TermMode, terms = new TermBuffer()): string[] {
  terms.fill(text, mode)
  const decoder = new TextDecoder()
  return Array.from({ length: terms.count }, (_, i) =>
    decoder.decode(terms.bytes.subarray(terms.starts[i], terms.ends[i])),
  )
}

function countTerms(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, Math.min((counts.get(word) ?? 0) + 1, MAX_TERM_COUNT))
  return counts
}

function isWanted({ group, time }: DocumentRow, { accepts, since, until }: TextQuery): boolean {
  return (
    (since === undefined || time >= since) &&
    (until === undefined || time < until) &&
    (accepts?.(group) ?? true)
  )
}

function byRank(a: TextHit, b: TextHit): number {
  return b.score - a.score || b.time - a.time || b.seq - a.seq || b.group - a.group || b.kind - a.kind
}

function bestOfGroups(hits: readonly TextHit[]): TextHit[] {
  const seen = new Set<number>()
  return hits.filter(({ group }) => !seen.has(group) && seen.add(group))
}
