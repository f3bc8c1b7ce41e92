import { CrabError } from '../base/errors.ts'
import { checkContent, checkCount, checkNames } from './check-entry.ts'
import { addEntry, describeOwner, findMemoryEntry, findOtherOwner, isNamed, missingEntry } from './entries.ts'
import type { Memory, MemoryEntry, MemoryKind } from './types.ts'

/** The only ways to change a memory. `name` may be an alias, except for `add`. */
export type Op =
  | {
      op: 'add'
      name: string
      content: string
      aliases: readonly string[]
      kind: MemoryKind
      /** Seconds since 1970. */
      createdAt: bigint
    }
  /** Replaces the content; adds these aliases to the current ones. */
  | { op: 'update'; name: string; content: string; aliases: readonly string[] }
  | { op: 'alias'; name: string; add: readonly string[]; remove: readonly string[] }
  /** Keeps the old name as an alias. */
  | { op: 'rename'; name: string; to: string }
  | { op: 'remove'; name: string }

/** The memory after a change, and the changed entry: after the change, or as it was before its removal. */
export interface AppliedOp {
  memory: Memory
  entry: MemoryEntry
}

/**
 * Returns the memory after a change; the same object when nothing changed. Pure.
 *
 * Throws `missing` when the entry or alias does not exist, `conflict` when a name belongs to another entry or
 * the entry is an immutable archive, and `invalid` for a name or content that cannot be stored.
 */
export function applyOp(memory: Memory, op: Op): AppliedOp {
  switch (op.op) {
    case 'add':
      return add(memory, op)
    case 'update':
      return update(memory, op)
    case 'alias':
      return alias(memory, op)
    case 'rename':
      return rename(memory, op)
    case 'remove':
      return remove(memory, op)
  }
}

type OpOf<K extends Op['op']> = Extract<Op, { op: K }>

function add(memory: Memory, { op: _, ...entry }: OpOf<'add'>): AppliedOp {
  const what = `Cannot add "${entry.name}" to the memory`
  const [name = '', ...aliases] = checkNames(what, [entry.name, ...entry.aliases])
  checkCount(what, { aliases })
  const content = checkContent(what, entry.content)
  const after = addEntry(memory, { ...entry, name, aliases, content })
  return { memory: after, entry: after.entries.at(-1)! }
}

function update(memory: Memory, { name, content: text, aliases }: OpOf<'update'>): AppliedOp {
  const what = `Cannot change "${name}" in the memory`
  const before = findEntry(memory, name, what)
  rejectArchive(before, what)
  const content = checkContent(what, text)
  const merged = merge(before, checkNames(what, aliases))
  return put(memory, before, { ...before, content, aliases: merged }, what)
}

function alias(memory: Memory, op: OpOf<'alias'>): AppliedOp {
  const what = `Cannot change the aliases of "${op.name}"`
  const before = findEntry(memory, op.name, what)
  const isMissing = (name: string) => !before.aliases.some((one) => isNamed(one, name))
  const unknown = op.remove.find(isMissing)
  if (unknown !== undefined) {
    const hint = before.aliases.length > 0 ? `it has ${before.aliases.join(', ')}` : 'it has none'
    throw new CrabError('missing', `${what}: it has no alias "${unknown}"`, { hint })
  }
  const left = before.aliases.filter((one) => !op.remove.some((name) => isNamed(one, name)))
  const reduced = { ...before, aliases: left }
  return put(memory, before, { ...reduced, aliases: merge(reduced, checkNames(what, op.add)) }, what)
}

function rename(memory: Memory, { name, to }: OpOf<'rename'>): AppliedOp {
  const what = `Cannot rename "${name}" in the memory`
  const before = findEntry(memory, name, what)
  rejectArchive(before, what)
  const [next = ''] = checkNames(what, [to])
  if (next === before.name) return { memory, entry: before }
  const aliases = [before.name, ...before.aliases.filter((one) => one !== next)]
  return put(memory, before, { ...before, name: next, aliases }, what)
}

function remove(memory: Memory, { name }: OpOf<'remove'>): AppliedOp {
  const what = `Cannot forget "${name}"`
  const entry = findEntry(memory, name, what)
  rejectArchive(entry, what)
  return { memory: { ...memory, entries: memory.entries.filter((one) => one !== entry) }, entry }
}

/** Replaces one entry. */
function put(memory: Memory, before: MemoryEntry, entry: MemoryEntry, what: string): AppliedOp {
  if (isSame(before, entry)) return { memory, entry: before }
  checkCount(what, entry)
  const taken = findOtherOwner(memory, [entry.name, ...entry.aliases], before)
  if (taken) throw new CrabError('conflict', `${what}: ${describeOwner(taken)}`)
  const entries = memory.entries.map((one) => (one === before ? entry : one))
  return { memory: { ...memory, entries }, entry }
}

function findEntry(memory: Memory, name: string, what: string): MemoryEntry {
  const entry = findMemoryEntry(memory, name)
  if (entry) return entry
  throw missingEntry(memory, name, what)
}

function rejectArchive({ kind, name }: MemoryEntry, what: string): void {
  if (kind !== 'archive') return
  throw new CrabError('conflict', `${what}: "${name}" is an archive, which a conversation continues from`, {
    hint: 'archives cannot be changed; choose another name',
  })
}

/** Returns the entry's aliases and more of them, without duplicates. */
function merge({ name, aliases }: MemoryEntry, more: readonly string[]): string[] {
  return [...new Set([...aliases, ...more])].filter((one) => one !== name)
}

function isSame(a: MemoryEntry, b: MemoryEntry): boolean {
  const isAlike = a.name === b.name && a.content === b.content && a.aliases.length === b.aliases.length
  return isAlike && a.aliases.every((alias, index) => alias === b.aliases[index])
}
