import type { MemoryKind } from './types.ts'

/** The first bytes of a memory file. */
export const MAGIC = 'CRMEM\0'
/** The only version of the format (CRMEM v1). */
export const FORMAT_VERSION = 1

/** The kinds of entries; the position is the kind's number in the file. */
export const MEMORY_KINDS: readonly MemoryKind[] = ['note', 'archive', 'topic']
