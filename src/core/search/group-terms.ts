import { hasBit } from './bits.ts'
import { documentColumns, findPostings, type GroupRuns, groupRuns, type LiveSegment } from './live-segment.ts'
import { seek } from './postings.ts'

/** The term counts of one group. */
export interface GroupCounts {
  group: number
  /** The number of terms in all its live documents. */
  length: number
  /** The number of occurrences of each term in those documents. */
  counts: number[]
}

/** Adjacent documents of a counted group, from `from` to `to` (exclusive). */
interface Run {
  from: number
  to: number
  owner: GroupCounts
}

/** Adds the terms of a segment's live documents to the counts of their groups. */
export function countGroups(
  live: LiveSegment,
  ids: readonly number[],
  counts: ReadonlyMap<number, GroupCounts>,
): void {
  const runs = findCountedRuns(groupRuns(live), counts)
  if (runs.length === 0) return
  const { lengths } = documentColumns(live)
  for (const { from, to, owner } of runs) {
    for (let doc = from; doc < to; doc++) if (!hasBit(live.dead, doc)) owner.length += lengths[doc]!
  }
  ids.forEach((id, term) => {
    const list = findPostings(live, id)
    if (list) countTerm(list, { live, term, runs })
  })
}

/** Counts one term. Postings and runs are both ascending, so each skips ahead to the other. */
function countTerm(
  { docs, counts, from, to }: { docs: Uint16Array; counts: Uint8Array; from: number; to: number },
  { live, term, runs }: { live: LiveSegment; term: number; runs: readonly Run[] },
): void {
  let at = from
  for (const run of runs) {
    if (at < to && docs[at]! >= run.to) continue
    at = seek(docs, at, to, run.from)
    for (; at < to && docs[at]! < run.to; at++) {
      if (!hasBit(live.dead, docs[at]!)) run.owner.counts[term]! += counts[at]!
    }
  }
}

function findCountedRuns({ groups, starts }: GroupRuns, counted: ReadonlyMap<number, GroupCounts>): Run[] {
  const runs: Run[] = []
  groups.forEach((group, at) => {
    const owner = counted.get(group)
    if (owner) runs.push({ from: starts[at]!, to: starts[at + 1]!, owner })
  })
  return runs
}
