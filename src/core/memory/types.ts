/** What an entry is: written by the agent, made by compaction, or of an earlier version. */
export type MemoryKind = 'note' | 'archive' | 'topic'

/** Something an agent remembers. */
export interface MemoryEntry {
  /** Stays the same as long as the entry lives; never given twice. */
  id: bigint
  /** Seconds since 1970. */
  createdAt: bigint
  kind: MemoryKind
  /** Unique among all names and aliases. */
  name: string
  content: string
  /** Other names of it. */
  aliases: readonly string[]
}

/** An agent's memory. */
export interface Memory {
  /** Of the next entry. */
  nextId: bigint
  /** By id. */
  entries: readonly MemoryEntry[]
}

export const EMPTY_MEMORY: Memory = { nextId: 1n, entries: [] }

/** Entries that one search over the wire finds, at most. */
export const MAX_MEMORY_HITS = 100

/** What is searched for in a memory. */
export interface MemorySearch {
  /** Words; names, contents and aliases that have some of them match. */
  query: string
  /** Entries, at most. */
  limit: number
  /** Which entries may be found; absent: all. */
  accepts?(entry: MemoryEntry): boolean
}

/** An entry that matches. */
export interface MemoryMatch {
  entry: MemoryEntry
  /** BM25 over name, aliases and content (RFC 0150); comparable within one search only. */
  score: number
}

/** A memory and its file, from which the file of the next one is made with little work. */
export interface EncodedMemory {
  memory: Memory
  bytes: Buffer
  /** Where each entry ends in `bytes`, in their order there. */
  ends: readonly number[]
}
