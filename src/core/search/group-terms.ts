import { hasBit } from './bits.ts'
import { documentColumns, findPostings, type GroupRuns, groupRuns, type LiveSegment } from './live-segment.ts'
import { seek } from './postings.ts'

/** What a group has of some terms. */
export interface GroupCounts {
  group: number
  /** Terms of all its live documents. */
  length: number
  /** Of each term: how often it occurs in them. */
  counts: number[]
}

/** Neighbouring documents of a group that is counted: from, to (not included). */
interface Run {
  from: number
  to: number
  owner: GroupCounts
}

/** Adds what the live documents of a holding have to the counts of their groups. */
export function countGroups(
  holding: LiveSegment,
  ids: readonly number[],
  counts: ReadonlyMap<number, GroupCounts>,
): void {
  const runs = findCountedRuns(groupRuns(holding), counts)
  if (runs.length === 0) return
  const { lengths } = documentColumns(holding)
  for (const { from, to, owner } of runs) {
    for (let doc = from; doc < to; doc++) if (!hasBit(holding.dead, doc)) owner.length += lengths[doc]!
  }
  ids.forEach((id, term) => {
    const list = findPostings(holding, id)
    if (list) countTerm(list, { holding, term, runs })
  })
}

/** Both are ascending: each jumps to where the other one is. */
function countTerm(
  { docs, counts, from, to }: { docs: Uint16Array; counts: Uint8Array; from: number; to: number },
  { holding, term, runs }: { holding: LiveSegment; term: number; runs: readonly Run[] },
): void {
  let at = from
  for (const run of runs) {
    if (at < to && docs[at]! >= run.to) continue
    at = seek(docs, at, to, run.from)
    for (; at < to && docs[at]! < run.to; at++) {
      if (!hasBit(holding.dead, docs[at]!)) run.owner.counts[term]! += counts[at]!
    }
  }
}

function findCountedRuns({ groups, starts }: GroupRuns, wanted: ReadonlyMap<number, GroupCounts>): Run[] {
  const runs: Run[] = []
  groups.forEach((group, at) => {
    const owner = wanted.get(group)
    if (owner) runs.push({ from: starts[at]!, to: starts[at + 1]!, owner })
  })
  return runs
}
