import { hasBit } from './bits.ts'
import { columnsOf, documentsOf, type Holding, listOf } from './holdings.ts'
import { probe } from './postings.ts'

/** What a group has of some terms. */
export interface GroupCounts {
  group: number
  /** Terms of all its live documents. */
  length: number
  /** Of each term: how often it occurs in them. */
  counts: number[]
}

/** Adds what the live documents of a holding have to the counts of their groups. */
export function countGroups(
  holding: Holding,
  ids: readonly number[],
  counts: ReadonlyMap<number, GroupCounts>,
): void {
  const docs = documentsIn(holding, counts)
  const { groups, lengths } = columnsOf(holding)
  for (const doc of docs) counts.get(groups[doc]!)!.length += lengths[doc]!
  ids.forEach((id, term) => {
    const list = docs.length === 0 ? undefined : listOf(holding, id)
    if (!list) return
    for (const doc of docs) {
      const at = probe(list.docs, list.from, list.to, doc)
      if (at >= 0) counts.get(groups[doc]!)!.counts[term]! += list.counts[at]!
    }
  })
}

function documentsIn(holding: Holding, wanted: ReadonlyMap<number, unknown>): number[] {
  const { groups } = columnsOf(holding)
  const documents = documentsOf(holding)
  const found: number[] = []
  for (let doc = 0; doc < documents; doc++) {
    if (wanted.has(groups[doc]!) && !hasBit(holding.dead, doc)) found.push(doc)
  }
  return found
}
