import { decodeTime, monotonicFactory, ulid } from 'ulid'

// Ids must be unique and need not be secret. Math.random is seeded anew in every process, and node:crypto takes five
// milliseconds to load.

/** A fresh ULID. */
export function newUlid(): string {
  return ulid(undefined, Math.random)
}

/** When a ULID was made, as ISO 8601; empty for what is none. */
export function ulidTime(id: string): string {
  try {
    return new Date(decodeTime(id)).toISOString()
  } catch {
    return '' // an id of another kind tells no time
  }
}

/** Makes ULIDs of given times, in milliseconds, that sort in the order they were made, also within a millisecond. */
export function ulidSequence(): (timeMs: number) => string {
  return monotonicFactory(Math.random)
}
