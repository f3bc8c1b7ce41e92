import type { GroupTerms } from '../search/text-index.ts'
import { B, K1, type TextHit } from '../search/types.ts'

/**
 * Hits, one of each session, in the order of what their whole sessions say, too: to the score of the best message
 * WHOLE_SHARE times that of the session as one document is added (docs/decisions/0130, with the evidence).
 *
 * `averageLength` is that of a session, in terms. Of equal scores the order stays.
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

/** BM25 of a session, with how rare terms are among messages. */
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
