import { findMemoryEntry } from './entries.ts'
import type { Op } from './ops.ts'
import type { Memory } from './types.ts'

/** What is to be remembered. */
export interface RememberRequest {
  /** Name or alias. */
  name: string
  content: string
  /** Added to those that are there. */
  aliases: readonly string[]
  /** Of a new entry, milliseconds since 1970. */
  now: number
}

/** Updates the entry of that name or alias, or adds a note (decision 34). */
export function rememberOp({ name, content, aliases, now }: RememberRequest): (memory: Memory) => Op {
  return (memory) => {
    if (findMemoryEntry(memory, name)) return { op: 'update', name, content, aliases }
    const createdAt = BigInt(Math.max(0, Math.floor(now / 1000)))
    return { op: 'add', name, content, aliases, kind: 'note', createdAt }
  }
}
