import { B, K1 } from '../../src/core/search/types.ts'

/** A document to search, with its terms. */
export interface RankedDocument {
  session: number
  /** An index into DOCUMENT_KINDS. */
  kind: number
  /** The terms, with repetition. */
  terms: readonly string[]
}

/** The parameters of a ranking of sessions: BM25 of the best message, and of the session as a whole. */
export interface Ranking {
  /** The weights by kind of document. */
  weights: readonly number[]
  k1?: number
  b?: number
  /** The weight of the whole session's score, added to that of its best message; 0 ignores it. */
  whole?: number
  /** The number of sessions, by best message, that are also scored as a whole. */
  candidates?: number
  /**
   * The exponent of the share of the query's terms that a message contains; the power is a factor of its
   * score.
   */
  coordination?: number
}

interface Posting {
  document: number
  count: number
}

/** Ranks sessions in a simple and slow way, to compare rankings. */
export class Collection {
  readonly #documents: readonly RankedDocument[]
  readonly #postings = new Map<string, Posting[]>()
  readonly #sessions = new Map<number, { length: number; counts: Map<string, number> }>()
  readonly #averages: { message: number; session: number }

  constructor(documents: readonly RankedDocument[]) {
    this.#documents = documents
    for (const [document, { session, terms }] of documents.entries()) this.#add(document, session, terms)
    const total = documents.reduce((sum, { terms }) => sum + terms.length, 0)
    this.#averages = { message: total / documents.length, session: total / this.#sessions.size }
  }

  #add(document: number, session: number, terms: readonly string[]): void {
    const whole = this.#sessions.getOrInsertComputed(session, () => ({ length: 0, counts: new Map() }))
    whole.length += terms.length
    for (const [term, { length: count }] of Map.groupBy(terms, (word) => word)) {
      this.#postings.getOrInsertComputed(term, () => []).push({ document, count })
      whole.counts.set(term, (whole.counts.get(term) ?? 0) + count)
    }
  }

  /** Returns sessions, best first. */
  search(query: readonly string[], ranking: Ranking): number[] {
    const terms = [...new Set(query)].filter((term) => this.#postings.has(term))
    const best = this.#bestMessages(terms, ranking)
    const inOrder = [...best].toSorted(([, a], [, b]) => b - a)
    const { whole = 0, candidates = 50 } = ranking
    if (whole === 0) return inOrder.map(([session]) => session)
    const scored = inOrder
      .slice(0, candidates)
      .map(([session, score]): [number, number] => [
        session,
        score + whole * this.#whole(session, terms, ranking),
      ])
    return scored.toSorted(([, a], [, b]) => b - a).map(([session]) => session)
  }

  #bestMessages(
    terms: readonly string[],
    { weights, k1 = K1, b = B, coordination = 0 }: Ranking,
  ): Map<number, number> {
    const found = new Map<number, { sum: number; terms: number }>()
    for (const term of terms) {
      const idf = this.#idf(term)
      for (const { document, count } of this.#postings.get(term)!) {
        const norm = k1 * (1 - b + (b * this.#documents[document]!.terms.length) / this.#averages.message)
        const entry = found.getOrInsertComputed(document, () => ({ sum: 0, terms: 0 }))
        entry.sum += (idf * (k1 + 1) * count) / (count + norm)
        entry.terms++
      }
    }
    const best = new Map<number, number>()
    for (const [document, { sum, terms: present }] of found) {
      const { session, kind } = this.#documents[document]!
      const score = sum * weights[kind]! * (present / terms.length) ** coordination
      best.set(session, Math.max(score, best.get(session) ?? 0))
    }
    return best
  }

  #whole(session: number, terms: readonly string[], { k1 = K1, b = B }: Ranking): number {
    const { length, counts } = this.#sessions.get(session)!
    const norm = k1 * (1 - b + (b * length) / this.#averages.session)
    return terms.reduce((sum, term) => {
      const count = counts.get(term) ?? 0
      return sum + (this.#idf(term) * (k1 + 1) * count) / (count + norm)
    }, 0)
  }

  #idf(term: string): number {
    const df = this.#postings.get(term)!.length
    return Math.log((this.#documents.length - df + 0.5) / (df + 0.5) + 1)
  }
}
