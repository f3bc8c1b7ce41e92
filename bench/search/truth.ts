import { TermBuffer } from '../../src/core/search/terms/term-buffer.ts'
import { B, K1, MAX_TERM_COUNT } from '../../src/core/search/types.ts'
import { DOCUMENT_WEIGHTS } from '../../src/core/session-search/types.ts'
import { toTermTexts } from '../../test/support/brute-force.ts'
import { type Corpus, type CorpusDocument, toDocuments } from './corpus.ts'
import { type Found, LIMIT, toDocumentTime } from './engine.ts'

/**
 * Computes the exact result of each query by scoring every document of the corpus in the simplest way. The
 * corpus is generated twice and never stored, so that a million messages fit into memory.
 *
 * It shares only the tokenizer with the index.
 */
export function bruteForce(
  corpus: Corpus,
  { texts, sessions }: { texts: readonly string[]; sessions: number },
): Found[][] {
  const queries = texts.map((text) => [...new Set(toTermTexts(text, 'query'))])
  const askers = Map.groupBy(
    queries.flatMap((terms, query) => terms.map((term) => ({ term, query }))),
    ({ term }) => term,
  )
  const frequencies = new Map<string, number>()
  let [documents, total] = [0, 0]
  for (const { counts, length } of read(corpus, sessions, askers)) {
    documents++
    total += length
    for (const term of counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  }
  const idfOf = (df: number) => Math.log((documents - df + 0.5) / (df + 0.5) + 1)
  const idfs = new Map([...frequencies].map(([term, df]) => [term, idfOf(df)]))
  const average = total / documents
  const best: Found[][] = texts.map(() => [])
  for (const { document, counts, length } of read(corpus, sessions, askers)) {
    const asking = new Set([...counts.keys()].flatMap((term) => askers.get(term)!.map(({ query }) => query)))
    const norm = K1 * (1 - B + (B * length) / average)
    for (const query of asking) {
      let sum = 0
      for (const term of queries[query]!) {
        const tf = counts.get(term)
        if (tf !== undefined) sum += (idfs.get(term)! * (K1 + 1) * tf) / (tf + norm)
      }
      const { session, seq, kind } = document
      keepBest(best[query]!, { session, seq, kind, score: DOCUMENT_WEIGHTS[kind]! * sum })
    }
  }
  return best
}

/** Yields for each document its length, and the counts of the terms that any query contains. */
function* read(
  corpus: Corpus,
  sessions: number,
  queryTerms: ReadonlyMap<string, unknown>,
): Generator<{ document: CorpusDocument; length: number; counts: Map<string, number> }> {
  const buffer = new TermBuffer()
  for (let number = 0; number < sessions; number++) {
    for (const document of toDocuments(corpus.session(number))) {
      const counts = new Map<string, number>()
      const terms = toTermTexts(document.text, 'document', buffer)
      for (const term of terms) {
        if (queryTerms.has(term)) counts.set(term, Math.min((counts.get(term) ?? 0) + 1, MAX_TERM_COUNT))
      }
      yield { document, length: terms.length, counts }
    }
  }
}

function keepBest(best: Found[], found: Found): void {
  if (best.length === LIMIT && isBetter(best.at(-1)!, found)) return
  const at = best.findIndex((other) => isBetter(found, other))
  best.splice(at < 0 ? best.length : at, 0, found)
  best.length = Math.min(best.length, LIMIT)
}

function isBetter(a: Found, b: Found): boolean {
  const order =
    b.score - a.score ||
    toDocumentTime(b) - toDocumentTime(a) ||
    b.seq - a.seq ||
    b.session - a.session ||
    b.kind - a.kind
  return order < 0
}
