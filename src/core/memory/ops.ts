import { CrabError } from '../base/errors.ts'
import { checkContent, checkCount, checkNames } from './check-entry.ts'
import { addEntry, describeOwner, findMemoryEntry, findOtherOwner, isNamed, missingEntry } from './entries.ts'
import type { Memory, MemoryEntry, MemoryKind } from './types.ts'

/** The only ways to change a memory (RFC 0150). `name` may be an alias, except for `add`. */
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
  /** Replaces the content; its aliases and these are its aliases then. */
  | { op: 'update'; name: string; content: string; aliases: readonly string[] }
  | { op: 'alias'; name: string; add: readonly string[]; remove: readonly string[] }
  /** The old name stays as an alias. */
  | { op: 'rename'; name: string; to: string }
  | { op: 'remove'; name: string }

/** A memory after a change, and the entry it was about: as it is then, or was when it is removed. */
export interface AppliedOp {
  memory: Memory
  entry: MemoryEntry
}

/**
 * What a memory is after a change. It is the same object when there was nothing to change. Pure.
 *
 * Throws `missing` when there is no such entry or alias, `conflict` when a name belongs to another entry or the entry is
 * an archive that must stay as it is, `invalid` for a name or content that cannot be kept.
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

function add(memory: Memory, { op: _, ...given }: OpOf<'add'>): AppliedOp {
  const what = `Cannot add "${given.name}" to the memory`
  const [name = '', ...aliases] = checkNames(what, [given.name, ...given.aliases])
  checkCount(what, { aliases })
  const content = checkContent(what, given.content)
  const after = addEntry(memory, { ...given, name, aliases, content })
  return { memory: after, entry: after.entries.at(-1)! }
}

function update(memory: Memory, { name, content: given, aliases }: OpOf<'update'>): AppliedOp {
  const what = `Cannot change "${name}" in the memory`
  const before = ownEntry(memory, name, what)
  refuseArchive(before, what)
  const content = checkContent(what, given)
  const merged = merge(before, checkNames(what, aliases))
  return put(memory, before, { ...before, content, aliases: merged }, what)
}

function alias(memory: Memory, op: OpOf<'alias'>): AppliedOp {
  const what = `Cannot change the aliases of "${op.name}"`
  const before = ownEntry(memory, op.name, what)
  const isMissing = (name: string) => !before.aliases.some((one) => isNamed(one, name))
  const unknown = op.remove.find(isMissing)
  if (unknown !== undefined) {
    const hint = before.aliases.length > 0 ? `it has ${before.aliases.join(', ')}` : 'it has none'
    throw new CrabError('missing', `${what}: it has no alias "${unknown}"`, { hint })
  }
  const left = before.aliases.filter((one) => !op.remove.some((name) => isNamed(one, name)))
  const kept = { ...before, aliases: left }
  return put(memory, before, { ...kept, aliases: merge(kept, checkNames(what, op.add)) }, what)
}

function rename(memory: Memory, { name, to }: OpOf<'rename'>): AppliedOp {
  const what = `Cannot rename "${name}" in the memory`
  const before = ownEntry(memory, name, what)
  refuseArchive(before, what)
  const [next = ''] = checkNames(what, [to])
  if (next === before.name) return { memory, entry: before }
  const aliases = [before.name, ...before.aliases.filter((one) => one !== next)]
  return put(memory, before, { ...before, name: next, aliases }, what)
}

function remove(memory: Memory, { name }: OpOf<'remove'>): AppliedOp {
  const what = `Cannot forget "${name}"`
  const entry = ownEntry(memory, name, what)
  refuseArchive(entry, what)
  return { memory: { ...memory, entries: memory.entries.filter((one) => one !== entry) }, entry }
}

/** One entry in place of what it was. */
function put(memory: Memory, before: MemoryEntry, entry: MemoryEntry, what: string): AppliedOp {
  if (isSame(before, entry)) return { memory, entry: before }
  checkCount(what, entry)
  const taken = findOtherOwner(memory, [entry.name, ...entry.aliases], before)
  if (taken) throw new CrabError('conflict', `${what}: ${describeOwner(taken)}`)
  const entries = memory.entries.map((one) => (one === before ? entry : one))
  return { memory: { ...memory, entries }, entry }
}

function ownEntry(memory: Memory, name: string, what: string): MemoryEntry {
  const entry = findMemoryEntry(memory, name)
  if (entry) return entry
  throw missingEntry(memory, name, what)
}

function refuseArchive({ kind, name }: MemoryEntry, what: string): void {
  if (kind !== 'archive') return
  throw new CrabError(
    'conflict',
    `${what}: "${name}" is an archive, which a conversation is continued from`,
    {
      hint: 'archives stay as they are; choose another name',
    },
  )
}

/** Its aliases with more of them, each once. */
function merge({ name, aliases }: MemoryEntry, more: readonly string[]): string[] {
  return [...new Set([...aliases, ...more])].filter((one) => one !== name)
}

function isSame(a: MemoryEntry, b: MemoryEntry): boolean {
  const isAlike = a.name === b.name && a.content === b.content && a.aliases.length === b.aliases.length
  return isAlike && a.aliases.every((alias, index) => alias === b.aliases[index])
}
