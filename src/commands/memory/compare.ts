import type { DeepPartial, MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'

/** How a memory becomes another one, by names. */
export interface MemoryDiff {
  added: string[]
  /** With another content, other aliases, of another kind or time. */
  changed: string[]
  removed: string[]
}

type MemoryContents = DeepPartial<MemoryEntry>

/** What goes, comes and changes when these entries are put in place of those. */
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

/** A difference in a few words. */
export function describeDifference({ added, changed, removed }: MemoryDiff): string {
  const parts = [
    [removed.length, 'removed'],
    [changed.length, 'changed'],
    [added.length, 'new'],
  ] as const
  const shown = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`)
  return shown.join(', ') || 'nothing changes'
}

/** One that comes without its time gets that of now, which is no change anybody made. */
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
