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

/** Returns the number of bytes of a code point in UTF-8. */
export function utf8Length(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x1_0000 ? 3 : 4
}

/** Writes a code point as UTF-8; returns where it ends. */
export function writeUtf8(bytes: Uint8Array, at: number, code: number): number {
  const length = utf8Length(code)
  if (length === 1) bytes[at] = code
  else {
    bytes[at] = LEADS[length]! | (code >>> (6 * (length - 1)))
    for (let i = 1; i < length; i++) bytes[at + i] = 0x80 | ((code >>> (6 * (length - 1 - i))) & 0x3f)
  }
  return at + length
}

/** Returns the last character boundary at or before `end`; `start` is a character boundary. */
export function cutUtf8(bytes: Uint8Array, start: number, end: number): number {
  let cut = end
  while (cut > start && (bytes[cut]! & 0xc0) === 0x80) cut--
  return cut
}

const LEADS = [0, 0, 0xc0, 0xe0, 0xf0]

/** Incremented whenever any text yields other terms than before; an index with another version is rebuilt. */
export const TERMS_VERSION = 4
