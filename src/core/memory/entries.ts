import { CrabError } from '../base/errors.ts'
import { checkContent, toName } from './check-entry.ts'
import type { Memory, MemoryEntry } from './types.ts'

/** What a new entry is made of; its id is the memory's to give. */
export type NewMemoryEntry = Omit<MemoryEntry, 'id'>

/** The entry of that name, else the one with that alias. */
export function findMemoryEntry({ entries }: Memory, name: string): MemoryEntry | undefined {
  const wanted = toName(name)
  const named = (one: string) => one === wanted || one === name
  return entries.find((entry) => named(entry.name)) ?? entries.find(({ aliases }) => aliases.some(named))
}

/** Whether a name that is kept is meant by one that was given. */
export function isNamed(kept: string, given: string): boolean {
  return kept === given || kept === toName(given)
}

/** What to throw when there is no entry of that name: `missing`, with names that differ in case, accents or blanks only. */
export function missingEntry({ entries }: Memory, name: string, what: string): CrabError {
  const wanted = fold(name)
  const names = entries.flatMap((entry) => [entry.name, ...entry.aliases])
  const similar = names.filter((one) => fold(one) === wanted).map((one) => `"${one}"`)
  return new CrabError('missing', `${what}: the memory has no entry of that name`, {
    hint:
      similar.length > 0
        ? `there is ${similar.slice(0, 5).join(', ')}`
        : 'crabtalk memory list shows the names there are',
  })
}

/** Which of these names another entry than `self` has already, as name or alias. */
export function findOtherOwner(
  { entries }: Memory,
  names: readonly string[],
  self?: MemoryEntry,
): { name: string; owner: MemoryEntry } | undefined {
  const wanted = new Set(names)
  for (const owner of entries) {
    if (owner === self) continue
    const name = wanted.has(owner.name) ? owner.name : owner.aliases.find((alias) => wanted.has(alias))
    if (name !== undefined) return { name, owner }
  }
  return undefined
}

/** Says that a name is taken. */
export function describeOwner({ name, owner }: { name: string; owner: MemoryEntry }): string {
  return name === owner.name
    ? `"${name}" is the name of another entry`
    : `"${name}" is another name of "${owner.name}"`
}

/** A memory with one entry more, the last. Throws `conflict` when its name, or an alias, is already a name of another. */
export function addEntry(memory: Memory, entry: NewMemoryEntry): Memory {
  const taken = findOtherOwner(memory, [entry.name, ...entry.aliases])
  if (taken) {
    throw new CrabError('conflict', describeOwner(taken))
  }
  const id = freeId(memory)
  return { nextId: id + 1n, entries: [...memory.entries, { id, ...entry }] }
}

/**
 * A memory with these entries and no others, their names as they are given. An id of 0 is given anew, and never one that
 * an entry had before.
 *
 * Throws `invalid` when two share a name, an alias or an id, and for an empty name or a content that is too long.
 */
export function replaceEntries(memory: Memory, entries: readonly MemoryEntry[]): Memory {
  for (const { name, aliases, content } of entries) {
    if (name === '' || aliases.includes('')) throw refused('an entry has an empty name')
    checkContent(`Cannot keep "${name}" in the memory`, content)
  }
  refuseShared(entries)
  const highest = entries.reduce((most, { id }) => (id > most ? id : most), 0n)
  let nextId = freeId(memory)
  if (nextId <= highest) nextId = highest + 1n
  const oldestFirst = entries.toSorted((a, b) =>
    a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt),
  )
  const named = oldestFirst.map((entry) => (entry.id === 0n ? { ...entry, id: nextId++ } : entry))
  return { nextId, entries: named.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** That name if nobody has it, else the first free one of `name (2)`, `name (3)`… */
export function findFreeName(memory: Memory, name: string): string {
  let free = name
  for (let n = 2; findMemoryEntry(memory, free); n++) free = `${name} (${n})`
  return free
}

function refuseShared(entries: readonly MemoryEntry[]): void {
  const owners = new Map<string, string>()
  const ids = new Set<bigint>()
  for (const { id, name, aliases } of entries) {
    if (id !== 0n && ids.has(id)) throw refused(`two entries have the id ${id}, one of them is "${name}"`)
    ids.add(id)
    for (const one of [name, ...aliases]) {
      const owner = owners.get(one)
      if (owner !== undefined) throw refused(`"${one}" is a name of both "${owner}" and "${name}"`)
      owners.set(one, name)
    }
  }
}

function refused(why: string): CrabError {
  return new CrabError('invalid', `Cannot replace the memory: ${why}`)
}

/** Above all that are there, whatever the file says. */
function freeId({ nextId, entries }: Memory): bigint {
  return entries.reduce((next, { id }) => (id >= next ? id + 1n : next), nextId)
}

function fold(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\s_-]/gu, '')
    .toLowerCase()
}
