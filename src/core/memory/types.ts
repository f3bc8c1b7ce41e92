/** The kind of an entry: written by the agent, created by compaction, or from an earlier version. */
export type MemoryKind = 'note' | 'archive' | 'topic'

/** Something an agent remembers. */
export interface MemoryEntry {
  /** Constant for the lifetime of the entry; never reused. */
  id: bigint
  /** Seconds since 1970. */
  createdAt: bigint
  kind: MemoryKind
  /** Unique among all names and aliases. */
  name: string
  content: string
  /** Alternative names. */
  aliases: readonly string[]
}

/** An agent's memory. */
export interface Memory {
  /** The id of the next entry. */
  nextId: bigint
  /** Sorted by id. */
  entries: readonly MemoryEntry[]
}

/** The memory of an agent without a file. */
export const EMPTY_MEMORY: Memory = { nextId: 1n, entries: [] }

/** The maximum number of entries that one search over the wire returns. */
export const MAX_MEMORY_HITS = 100

/** A search in a memory. */
export interface MemorySearch {
  /** Words; an entry matches when its name, content or aliases contain any of them. */
  query: string
  /** The maximum number of entries. */
  limit: number
  /** Whether an entry may be returned; absent: all may. */
  accepts?(entry: MemoryEntry): boolean
}

/** An entry that matches. */
export interface MemoryMatch {
  entry: MemoryEntry
  /** BM25 over name, aliases and content; only comparable within one search. */
  score: number
}

/** A memory and its encoded file, from which the next version of the file is encoded quickly. */
export interface EncodedMemory {
  memory: Memory
  bytes: Buffer
  /** The end of each entry in `bytes`, in file order. */
  ends: readonly number[]
}
