import { TextIndex } from '../search/text-index.ts'
import { NO_OFFSET } from '../search/types.ts'
import type { Memory, MemoryEntry, MemoryMatch, MemorySearch } from './types.ts'

/** Searches one memory; it follows its changes by what is different. */
export class MemoryIndex {
  #index = new TextIndex()
  /** Those in the index, by id. */
  #entries: readonly MemoryEntry[] = []
  /** Of each of them: its group in the index. */
  #groups: number[] = []
  /** By group. */
  #byGroup = new Map<number, MemoryEntry>()
  #nextGroup = 0

  /** Best first; of equal ones the youngest, then that with the highest id. */
  search(memory: Memory, { query, limit, accepts }: MemorySearch): MemoryMatch[] {
    this.#follow(memory.entries)
    const getGroupEntry = (group: number) => this.#byGroup.get(group)!
    const hits = this.#index.search({
      text: query,
      limit,
      ...(accepts && { accepts: (group: number) => accepts(getGroupEntry(group)) }),
    })
    return hits.map(({ group, score }) => ({ entry: getGroupEntry(group), score }))
  }

  #follow(given: readonly MemoryEntry[]): void {
    if (given === this.#entries) return
    if (this.#nextGroup > 4 * given.length + MIN_GROUPS) this.#startAnew()
    const entries = isSorted(given) ? given : given.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const groups: number[] = []
    const gone: number[] = []
    let at = 0
    for (const entry of entries) {
      while (at < this.#entries.length && this.#entries[at]!.id < entry.id) gone.push(this.#groups[at++]!)
      const before = this.#entries[at]?.id === entry.id ? this.#entries[at] : undefined
      const group = before && this.#groups[at++]!
      if (group !== undefined && isSame(before!, entry)) groups.push(this.#keep(group, entry))
      else {
        if (group !== undefined) gone.push(group)
        groups.push(this.#add(entry))
      }
    }
    gone.push(...this.#groups.slice(at))
    this.#index.removeGroups(gone)
    for (const group of gone) this.#byGroup.delete(group)
    this.#groups = groups
    this.#entries = given === entries ? given : entries
  }

  #keep(group: number, entry: MemoryEntry): number {
    this.#byGroup.set(group, entry)
    return group
  }

  #add(entry: MemoryEntry): number {
    const { id, name, content, aliases, createdAt } = entry
    const group = this.#nextGroup++
    const row = { group, kind: 0, seq: Number(BigInt.asUintN(32, id)), offset: NO_OFFSET }
    this.#index.add(
      { ...row, time: Math.min(Number(createdAt) * 1000, MAX_TIME) },
      [name, ...aliases, content].join('\n'),
    )
    return this.#keep(group, entry)
  }

  /** Groups are never given twice, and terms never forgotten. */
  #startAnew(): void {
    this.#index = new TextIndex()
    this.#entries = []
    this.#groups = []
    this.#byGroup = new Map()
    this.#nextGroup = 0
  }
}

const MIN_GROUPS = 1000
/** Of Date. */
const MAX_TIME = 8.64e15

function isSorted(entries: readonly MemoryEntry[]): boolean {
  return entries.every((entry, index) => index === 0 || entries[index - 1]!.id <= entry.id)
}

function isSame(a: MemoryEntry, b: MemoryEntry): boolean {
  if (a === b) return true
  if (a.name !== b.name || a.content !== b.content || a.createdAt !== b.createdAt) return false
  return (
    a.aliases.length === b.aliases.length && a.aliases.every((alias, index) => alias === b.aliases[index])
  )
}
