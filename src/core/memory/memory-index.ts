import { TextIndex } from '../search/text-index.ts'
import { NO_OFFSET } from '../search/types.ts'
import type { Memory, MemoryEntry, MemoryMatch, MemorySearch } from './types.ts'

/** A search index over one memory; each search first applies the differences since the previous one. */
export class MemoryIndex {
  #index = new TextIndex()
  /** The indexed entries, sorted by id. */
  #entries: readonly MemoryEntry[] = []
  /** The group of each entry in the index, parallel to `#entries`. */
  #groups: number[] = []
  /** The entries by group. */
  #byGroup = new Map<number, MemoryEntry>()
  #nextGroup = 0

  /** Returns the matches, best first; ties put the newest first, then the highest id. */
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

  #follow(current: readonly MemoryEntry[]): void {
    if (current === this.#entries) return
    if (this.#nextGroup > 4 * current.length + MIN_GROUPS) this.#rebuild()
    const entries = isSorted(current) ? current : current.toSorted((a, b) => (a.id < b.id ? -1 : 1))
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
    this.#entries = current === entries ? current : entries
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

  /** Rebuilds the index, because it never reuses groups and never removes terms. */
  #rebuild(): void {
    this.#index = new TextIndex()
    this.#entries = []
    this.#groups = []
    this.#byGroup = new Map()
    this.#nextGroup = 0
  }
}

const MIN_GROUPS = 1000
/** The maximum time of a Date. */
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
