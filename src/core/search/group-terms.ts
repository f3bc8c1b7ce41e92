import { hasBit } from './bits.ts'
import { columnsOf, documentsOf, type Holding, listOf } from './holdings.ts'
import { seek } from './postings.ts'

/** What a group has of some terms. */
export interface GroupCounts {
  group: number
  /** Terms of all its live documents. */
  length: number
  /** Of each term: how often it occurs in them. */
  counts: number[]
}

/** Live documents, ascending, and of each its group. */
interface Found {
  docs: Uint16Array
  owners: GroupCounts[]
}

/** Adds what the live documents of a holding have to the counts of their groups. */
export function countGroups(
  holding: Holding,
  ids: readonly number[],
  counts: ReadonlyMap<number, GroupCounts>,
): void {
  const found = documentsIn(holding, counts)
  if (found.docs.length === 0) return
  const { lengths } = columnsOf(holding)
  found.docs.forEach((doc, i) => {
    found.owners[i]!.length += lengths[doc]!
  })
  ids.forEach((id, term) => {
    const list = listOf(holding, id)
    if (list) countTerm(list, term, found)
  })
}

/** Both are ascending: each jumps to where the other one is. */
function countTerm(
  list: { docs: Uint16Array; counts: Uint8Array; from: number; to: number },
  term: number,
  { docs, owners }: Found,
): void {
  let i = 0
  let at = list.from
  while (i < docs.length && at < list.to) {
    const doc = docs[i]!
    const other = list.docs[at]!
    if (doc < other) i = seek(docs, i, docs.length, other)
    else if (other < doc) at = seek(list.docs, at, list.to, doc)
    else owners[i++]!.counts[term]! += list.counts[at++]!
  }
}

/** Documents of a group stand together: it is looked up once for each run of them. */
function documentsIn(holding: Holding, wanted: ReadonlyMap<number, GroupCounts>): Found {
  const { groups } = columnsOf(holding)
  const documents = documentsOf(holding)
  const mayBe = filterOf(wanted.keys())
  const docs: number[] = []
  const owners: GroupCounts[] = []
  let last = -1
  let owner: GroupCounts | undefined
  for (let doc = 0; doc < documents; doc++) {
    const group = groups[doc]!
    if (mayBe[group & FILTER_BITS] === 0) continue
    if (group !== last) owner = wanted.get(group)
    last = group
    if (!owner || hasBit(holding.dead, doc)) continue
    docs.push(doc)
    owners.push(owner)
  }
  return { docs: Uint16Array.from(docs), owners }
}

/** 1 for what groups end in: most others are ruled out without a look into a map. */
function filterOf(groups: Iterable<number>): Uint8Array {
  const filter = new Uint8Array(FILTER_BITS + 1)
  for (const group of groups) filter[group & FILTER_BITS] = 1
  return filter
}

const FILTER_BITS = 0x3fff
