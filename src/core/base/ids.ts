import { decodeTime, monotonicFactory, ulid } from 'ulid'

// Ids must be unique but need not be secret. Math.random is seeded separately in every process, and loading
// node:crypto takes five milliseconds.

/** Returns a new ULID. */
export function newUlid(): string {
  return ulid(undefined, Math.random)
}

/** Returns the creation time of a ULID as ISO 8601; empty when the id is not a ULID. */
export function ulidTime(id: string): string {
  try {
    return new Date(decodeTime(id)).toISOString()
  } catch {
    return '' // another kind of id has no time
  }
}

/**
 * Returns a generator of ULIDs for times in milliseconds. The ids sort in the order of their creation, even
 * within one millisecond.
 */
export function ulidSequence(): (timeMs: number) => string {
  return monotonicFactory(Math.random)
}
