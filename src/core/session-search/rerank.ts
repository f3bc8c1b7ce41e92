import type { GroupTerms } from '../search/text-index.ts'
import { B, K1, type TextHit } from '../search/types.ts'

/**
 * Reorders hits, one per session, by also scoring the whole sessions: adds WHOLE_SHARE times the score of the
 * session as one document to that of its best message (ADR 0130 has the evidence).
 *
 * `averageLength` is the average length of a session, in terms. Ties keep their order.
 */
export function rerank(
  hits: readonly TextHit[],
  { idf, groups }: GroupTerms,
  averageLength: number,
): TextHit[] {
  const whole = new Map(
    groups.map(({ group, length, counts }) => [group, scoreWhole({ idf, counts, length, averageLength })]),
  )
  return hits
    .map((hit) => ({ ...hit, score: hit.score + WHOLE_SHARE * (whole.get(hit.group) ?? 0) }))
    .toSorted((a, b) => b.score - a.score)
}

const WHOLE_SHARE = 2

/** Returns the BM25 score of a session, with inverse frequencies counted over messages. */
function scoreWhole(session: {
  idf: readonly number[]
  counts: readonly number[]
  length: number
  averageLength: number
}): number {
  const { idf, counts, length, averageLength } = session
  const norm = K1 * (1 - B + (B * length) / averageLength)
  return counts.reduce((sum, count, at) => sum + (idf[at]! * (K1 + 1) * count) / (count + norm), 0)
}
