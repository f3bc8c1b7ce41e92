/** 32 bits of a term, every one of them mixed. */
export function hashTerm(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_SEED
  for (let i = start; i < end; i++) hash = mixByte(hash, bytes[i]!)
  return finishHash(hash)
}

/** The hash of nothing yet: whoever reads bytes anyway mixes each into it (FNV-1a), and finishes it. */
export const HASH_SEED = 0x811c9dc5 | 0

/** A hash with one more byte. */
export function mixByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** The hash of all bytes, 0 to 2 ** 32 - 1; FNV alone leaves patterns in its bits. */
export function finishHash(hash: number): number {
  const high = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const low = Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (low ^ (low >>> 16)) >>> 0
}
