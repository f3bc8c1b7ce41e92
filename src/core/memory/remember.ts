import { findMemoryEntry } from './entries.ts'
import type { Op } from './ops.ts'
import type { Memory } from './types.ts'

/** A note to remember. */
export interface RememberRequest {
  /** A name or alias. */
  name: string
  content: string
  /** Added to the current aliases. */
  aliases: readonly string[]
  /** The creation time of a new entry, milliseconds since 1970. */
  now: number
}

/** Updates the entry with that name or alias, or adds a note (ADR 0126). */
export function rememberOp({ name, content, aliases, now }: RememberRequest): (memory: Memory) => Op {
  return (memory) => {
    if (findMemoryEntry(memory, name)) return { op: 'update', name, content, aliases }
    const createdAt = BigInt(Math.max(0, Math.floor(now / 1000)))
    return { op: 'add', name, content, aliases, kind: 'note', createdAt }
  }
}
