import { CrabError } from '../../core/base/errors.ts'
import { type MemoryEntry, MemoryKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'

/** The names of kinds, for people and programs. */
export const MEMORY_KIND_NAMES: Readonly<Record<string, MemoryKind>> = {
  note: MemoryKind.NOTE,
  archive: MemoryKind.ARCHIVE,
  topic: MemoryKind.TOPIC,
}

/** Converts an entry to its `--json` form. */
export function toJsonEntry({ id, name, kind, createdAt, aliases, content }: MemoryEntry) {
  return { id, name, kind: kindName(kind), created_at: createdAt, aliases, content }
}

/** Returns the name of a kind; `other` for one of a later version. */
export function kindName(kind: MemoryKind): string {
  return Object.entries(MEMORY_KIND_NAMES).find(([, known]) => known === kind)?.[0] ?? 'other'
}

/** The entries of a memory to read. */
interface EntryFilter {
  agent: string
  kind: MemoryKind | undefined
  offset: number
  /** `Infinity` means all. */
  limit: number
}

/** Reads entries, sorted by name and page by page, and their total number. */
export async function fetchMemoryEntries(
  dispatch: Dispatch,
  { agent, kind, offset, limit }: EntryFilter,
  signal: AbortSignal,
): Promise<{ entries: MemoryEntry[]; total: number }> {
  const found: MemoryEntry[] = []
  for (;;) {
    const pageLimit = Math.min(limit - found.length, PAGE)
    const page = { agent, kind, offset: offset + found.length, limit: pageLimit }
    const { entries, total } = await request(dispatch, 'listMemory', page, signal)
    found.push(...entries)
    const isOver = entries.length === 0 || found.length >= limit || offset + found.length >= total
    if (isOver) return { entries: found, total }
  }
}

/** The maximum number of entries in one reply. */
const PAGE = 1000

/** Reads a whole memory. Throws `conflict` when it keeps changing while it is read. */
export async function readMemory(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): Promise<MemoryEntry[]> {
  const all = { agent, kind: undefined, offset: 0, limit: Number.POSITIVE_INFINITY }
  for (let tries = 0; tries < 5; tries++) {
    const { entries, total } = await fetchMemoryEntries(dispatch, all, signal)
    const isWhole = entries.length === total && new Set(entries.map(({ name }) => name)).size === total
    if (isWhole) return entries
  }
  throw new CrabError('conflict', 'Cannot read the memory: it keeps changing while it is read', {
    hint: 'try again later',
  })
}

/**
 * Finds the entry of that name or alias. Throws `missing` when there is none, and `usage` for an empty name,
 * which on the wire means all entries.
 */
export async function fetchMemoryEntry(
  dispatch: Dispatch,
  { agent, name }: { agent: string; name: string },
  signal: AbortSignal,
): Promise<MemoryEntry> {
  if (name === '') {
    throw new CrabError('usage', 'Cannot show "": the name is empty', {
      hint: 'crabtalk memory list shows all names',
    })
  }
  const { entries } = await request(dispatch, 'listMemory', { agent, name }, signal)
  return entries[0]!
}
