import type { MemoryKind } from './types.ts'

export const MAGIC = 'CRMEM\0'
export const VERSION = 1

/** Kinds by their numbers in the file. */
export const KINDS: readonly MemoryKind[] = ['note', 'archive', 'topic']
