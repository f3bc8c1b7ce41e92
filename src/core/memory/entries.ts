import { CrabError } from '../base/errors.ts'
import type { Memory, MemoryEntry } from './types.ts'

/** What a new entry is made of; its id is the memory's to give. */
export type NewEntry = Omit<MemoryEntry, 'id'>

/** The entry of that name, else the one with that alias. */
export function findEntry({ entries }: Memory, name: string): MemoryEntry | undefined {
  return entries.find((entry) => entry.name === name) ?? entries.find((entry) => entry.aliases.includes(name))
}

/** A memory with one entry more. Throws `conflict` when its name, or an alias, is already a name of another. */
export function addEntry(memory: Memory, entry: NewEntry): Memory {
  for (const name of [entry.name, ...entry.aliases]) {
    const owner = findEntry(memory, name)
    if (owner) throw new CrabError('conflict', `"${name}" is the name of another entry, "${owner.name}"`)
  }
  const highest = memory.entries.reduce((most, { id }) => (id > most ? id : most), 0n)
  const id = memory.nextId > highest ? memory.nextId : highest + 1n
  return { nextId: id + 1n, entries: [...memory.entries, { id, ...entry }] }
}

/** That name if nobody has it, else the first free one of `name (2)`, `name (3)`… */
export function freeName(memory: Memory, name: string): string {
  let free = name
  for (let n = 2; findEntry(memory, free); n++) free = `${name} (${n})`
  return free
}
