/** Returns a 32-bit hash of a term with well-mixed bits. */
export function hashTerm(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_SEED
  for (let i = start; i < end; i++) hash = mixByte(hash, bytes[i]!)
  return finishHash(hash)
}

/** The initial hash. Code that reads the bytes anyway calls mixByte() for each (FNV-1a), then finishHash(). */
export const HASH_SEED = 0x811c9dc5 | 0

/** Returns the hash extended by one byte. */
export function mixByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** Returns the final hash, 0 to 2 ** 32 - 1. FNV alone leaves patterns in its bits; this mixes them. */
export function finishHash(hash: number): number {
  const high = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const low = Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (low ^ (low >>> 16)) >>> 0
}
