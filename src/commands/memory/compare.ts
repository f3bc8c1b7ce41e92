import type { DeepPartial, MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'

/** The difference between two memories, by the names of entries. */
export interface MemoryDiff {
  added: string[]
  /** The entries with another content, kind or time, or with other aliases. */
  changed: string[]
  removed: string[]
}

type MemoryContents = DeepPartial<MemoryEntry>

/** Returns what is added, changed and removed when `after` replaces `before`. */
export function diffMemories(before: readonly MemoryEntry[], after: readonly MemoryContents[]): MemoryDiff {
  const old = new Map(before.map((entry) => [entry.name, entry]))
  const names = new Set(after.map(({ name }) => name))
  const changed = after.filter((entry) => {
    const was = old.get(entry.name ?? '')
    return was !== undefined && !isSame(was, entry)
  })
  return {
    added: after.flatMap(({ name = '' }) => (old.has(name) ? [] : [name])),
    changed: changed.map(({ name = '' }) => name),
    removed: before.flatMap(({ name }) => (names.has(name) ? [] : [name])),
  }
}

/** Describes a difference in a few words. */
export function describeDifference({ added, changed, removed }: MemoryDiff): string {
  const parts = [
    [removed.length, 'removed'],
    [changed.length, 'changed'],
    [added.length, 'new'],
  ] as const
  const shown = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`)
  return shown.join(', ') || 'nothing changes'
}

/**
 * Ignores the time of an entry that comes without one: it gets the current time, which is not a change that
 * the user made.
 */
function isSame(
  was: MemoryEntry,
  { content = '', kind, aliases = [], createdAt = '' }: MemoryContents,
): boolean {
  const isListed = (alias: string) => was.aliases.includes(alias)
  return (
    was.content === content &&
    was.kind === kind &&
    (createdAt === '' || was.createdAt === createdAt) &&
    was.aliases.length === aliases.length &&
    aliases.every((alias) => isListed(alias ?? ''))
  )
}
