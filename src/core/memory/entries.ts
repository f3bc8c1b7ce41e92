import { CrabError } from '../base/errors.ts'
import { checkContent, toName } from './check-entry.ts'
import type { Memory, MemoryEntry } from './types.ts'

/** A new entry; the memory assigns its id. */
export type NewMemoryEntry = Omit<MemoryEntry, 'id'>

/** Returns the entry with that name, otherwise the one with that alias. */
export function findMemoryEntry({ entries }: Memory, name: string): MemoryEntry | undefined {
  const normalized = toName(name)
  const named = (one: string) => one === normalized || one === name
  return entries.find((entry) => named(entry.name)) ?? entries.find(({ aliases }) => aliases.some(named))
}

/** Whether a stored name matches a name as a caller wrote it. */
export function isNamed(stored: string, name: string): boolean {
  return stored === name || stored === toName(name)
}

/**
 * Returns the `missing` error for a name; its hint lists names that differ only in case, accents or
 * separators.
 */
export function missingEntry({ entries }: Memory, name: string, what: string): CrabError {
  const folded = fold(name)
  const names = entries.flatMap((entry) => [entry.name, ...entry.aliases])
  const similar = names.filter((one) => fold(one) === folded).map((one) => `"${one}"`)
  return new CrabError('missing', `${what}: the memory does not have that entry`, {
    hint:
      similar.length > 0
        ? `it has ${similar.slice(0, 5).join(', ')}`
        : 'crabtalk memory list shows all names',
  })
}

/**
 * Returns the first of these names that is already a name or alias of an entry other than `self`, and that
 * entry.
 */
export function findOtherOwner(
  { entries }: Memory,
  names: readonly string[],
  self?: MemoryEntry,
): { name: string; owner: MemoryEntry } | undefined {
  const candidates = new Set(names)
  for (const owner of entries) {
    if (owner === self) continue
    const name = candidates.has(owner.name)
      ? owner.name
      : owner.aliases.find((alias) => candidates.has(alias))
    if (name !== undefined) return { name, owner }
  }
  return undefined
}

/** Describes which entry already has a name. */
export function describeOwner({ name, owner }: { name: string; owner: MemoryEntry }): string {
  return name === owner.name
    ? `"${name}" is the name of another entry`
    : `"${name}" is another name of "${owner.name}"`
}

/**
 * Appends an entry to a memory. Throws `conflict` when its name or an alias already belongs to another entry.
 */
export function addEntry(memory: Memory, entry: NewMemoryEntry): Memory {
  const taken = findOtherOwner(memory, [entry.name, ...entry.aliases])
  if (taken) {
    throw new CrabError('conflict', describeOwner(taken))
  }
  const id = freeId(memory)
  return { nextId: id + 1n, entries: [...memory.entries, { id, ...entry }] }
}

/**
 * Replaces all entries of a memory; names are not normalized. An entry with id 0 gets a new id, never one
 * that was used before.
 *
 * Throws `invalid` when two entries share a name, an alias or an id, and for an empty name or a content that
 * is too long.
 */
export function replaceEntries(memory: Memory, entries: readonly MemoryEntry[]): Memory {
  for (const { name, aliases, content } of entries) {
    if (name === '' || aliases.includes('')) throw refusal('an entry has an empty name')
    checkContent(`Cannot keep "${name}" in the memory`, content)
  }
  rejectShared(entries)
  const highest = entries.reduce((most, { id }) => (id > most ? id : most), 0n)
  let nextId = freeId(memory)
  if (nextId <= highest) nextId = highest + 1n
  const oldestFirst = entries.toSorted((a, b) =>
    a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt),
  )
  const named = oldestFirst.map((entry) => (entry.id === 0n ? { ...entry, id: nextId++ } : entry))
  return { nextId, entries: named.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** Returns the name if it is unused, otherwise the first unused of `name (2)`, `name (3)`… */
export function findFreeName(memory: Memory, name: string): string {
  let free = name
  for (let n = 2; findMemoryEntry(memory, free); n++) free = `${name} (${n})`
  return free
}

function rejectShared(entries: readonly MemoryEntry[]): void {
  const owners = new Map<string, string>()
  const ids = new Set<bigint>()
  for (const { id, name, aliases } of entries) {
    if (id !== 0n && ids.has(id)) throw refusal(`two entries have the id ${id}, one of them is "${name}"`)
    ids.add(id)
    for (const one of [name, ...aliases]) {
      const owner = owners.get(one)
      if (owner !== undefined) throw refusal(`"${one}" is a name of both "${owner}" and "${name}"`)
      owners.set(one, name)
    }
  }
}

function refusal(why: string): CrabError {
  return new CrabError('invalid', `Cannot replace the memory: ${why}`)
}

/** Returns an id above those of all entries, even if the file's `nextId` is wrong. */
function freeId({ nextId, entries }: Memory): bigint {
  return entries.reduce((next, { id }) => (id >= next ? id + 1n : next), nextId)
}

function fold(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\s_-]/gu, '')
    .toLowerCase()
}
