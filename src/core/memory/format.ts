import type { MemoryKind } from './types.ts'

export const MAGIC = 'CRMEM\0'
export const FORMAT_VERSION = 1

/** Kinds by their numbers in the file. */
export const MEMORY_KINDS: readonly MemoryKind[] = ['note', 'archive', 'topic']
