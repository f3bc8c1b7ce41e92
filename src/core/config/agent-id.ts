import { createHash } from 'node:crypto'
import { encodeTime, ulid } from 'ulid'

/** A fresh agent id. */
export function newAgentId(): string {
  return ulid()
}

/**
 * The id of an agent whose file has none: a ULID of the file's time and name.
 *
 * Every process that sees the same file derives the same id, so none has to be written to agree on it.
 */
export function derivedAgentId(name: string, timeMs: number): string {
  const hash = createHash('sha256').update(`${name}\0${timeMs}`).digest()
  const random = Array.from(hash.subarray(0, 16), (byte) => ALPHABET[byte % ALPHABET.length])
  return encodeTime(Math.max(0, Math.floor(timeMs))) + random.join('')
}

/** Whether a value is a ULID in its canonical, upper-case form. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(value)
}

/** Crockford's base 32, as ULIDs use it. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
