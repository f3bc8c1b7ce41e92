import { CANDIDATES } from '../../src/core/session-search/find-matches.ts'
import { DOCUMENT_WEIGHTS } from '../../src/core/session-search/types.ts'
import type { Ranking } from './ranking.ts'

/** A ranking to compare, with its treatment of words. */
export interface Variant {
  name: string
  ranking: Ranking
  /** Reduces a word, in messages and queries, to its stem. */
  stem?: (word: string) => string
  /** Words of a query that are ignored if others remain. */
  ignored?: ReadonlySet<string>
}

const weights = DOCUMENT_WEIGHTS
const FLAT = [1, 1, 1, 1, 1]
const BEST: Ranking = { weights }
/** The ranking of src/core/session-search. */
const BUILT: Ranking = { weights, whole: 2, candidates: CANDIDATES }

/** The variants compared on the tuning half; the first two are the product's, without and with re-ranking. */
export const VARIANTS: readonly Variant[] = [
  { name: 'best message', ranking: BEST },
  { name: 're-ranked', ranking: BUILT },
  { name: 're-ranked, 20 candidates', ranking: { ...BUILT, candidates: 20 } },
  { name: 're-ranked, 50 candidates', ranking: { ...BUILT, candidates: 50 } },
  { name: 're-ranked, session × 1', ranking: { ...BUILT, whole: 1 } },
  { name: 're-ranked, session × 1, 50 candidates', ranking: { ...BUILT, whole: 1, candidates: 50 } },
  { name: 're-ranked, session × 4', ranking: { ...BUILT, whole: 4 } },
  { name: 'best message, share of terms', ranking: { ...BEST, coordination: 1 } },
  { name: 're-ranked, share of terms', ranking: { ...BUILT, coordination: 1 } },
  { name: 'best message, all weights 1', ranking: { weights: FLAT } },
  { name: 're-ranked, all weights 1', ranking: { ...BUILT, weights: FLAT } },
  { name: 're-ranked, user 1', ranking: { ...BUILT, weights: [1, 1, 1.3, 2, 3] } },
  { name: 're-ranked, title 4', ranking: { ...BUILT, weights: [1.5, 1, 1.3, 4, 3] } },
  { name: 're-ranked, title and summary 1', ranking: { ...BUILT, weights: [1.5, 1, 1.3, 1, 1] } },
  { name: 're-ranked, k1 0.9, b 0.4', ranking: { ...BUILT, k1: 0.9, b: 0.4 } },
  { name: 're-ranked, k1 2', ranking: { ...BUILT, k1: 2 } },
  { name: 're-ranked, stems', ranking: BUILT, stem },
  { name: 're-ranked, no stop words', ranking: BUILT, ignored: stopWords() },
]

/** Cuts off English and German endings when enough of the word remains. */
function stem(word: string): string {
  if (word.length < 5 || !/^[a-zß-ÿ]+$/.test(word)) return word
  const ending = ['ation', 'ing', 'ion', 'ed', 'er', 'ly', 'en', 'es', 'em', 'e'].find(
    (end) => word.endsWith(end) && word.length - end.length >= 4,
  )
  return ending === undefined ? word : word.slice(0, -ending.length)
}

function stopWords(): Set<string> {
  const english =
    'a an the is it in of to and or for on at by with as be was are were been has had have do does did but not no if so from that this then than into its my me we he she they you your our his her what which why how who when where can could may must should would will there'
  const german =
    'der die das und oder ist ein eine einen zu mit von für im in den dem des ich wir man sich nicht wie was warum wann bis auf nach'
  return new Set(`${english} ${german}`.split(' '))
}
