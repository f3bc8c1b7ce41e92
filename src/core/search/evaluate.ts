import type { BestHits } from './best-hits.ts'
import { hasBit } from './bits.ts'
import { termScore } from './bm25.ts'
import { columnsOf, documentsOf, type Holding, type List, listOf } from './holdings.ts'
import type { Query } from './query.ts'

/** Offers every live document of a holding that matches. */
export function evaluate(holding: Holding, query: Query, best: BestHits): void {
  const lists: { list: List; factor: number }[] = []
  query.ids.forEach((id, i) => {
    const list = listOf(holding, id)
    if (list) lists.push({ list, factor: query.factors[i]! })
  })
  if (lists.length === 0) return
  const sums = new Float64Array(documentsOf(holding))
  const { lengths, kinds, groups, seqs, offsets, times } = columnsOf(holding)
  for (const { list, factor } of lists) {
    for (let at = list.from; at < list.to; at++) {
      const doc = list.docs[at]!
      sums[doc]! += termScore(factor, list.counts[at]!, lengths[doc]!, query.averageLength)
    }
  }
  for (let doc = 0; doc < sums.length; doc++) {
    const score = query.weights[kinds[doc]!]! * sums[doc]!
    if (score === 0 || score < best.threshold || hasBit(holding.dead, doc)) continue
    const group = groups[doc]!
    const time = times[doc]!
    if (!query.accepts(group, time)) continue
    best.offer({ group, kind: kinds[doc]!, seq: seqs[doc]!, offset: offsets[doc]!, time, score })
  }
}
