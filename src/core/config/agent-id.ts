import { encodeTime } from 'ulid'
import { newUlid } from '../base/ids.ts'
import { sha256 } from '../base/sha256.ts'
import { foldName } from './agent-schema.ts'

/** Returns a new id for an agent of this name. */
export function newAgentId(name: string): string {
  return withCheck(newUlid().slice(0, BODY_LENGTH), name)
}

/**
 * Derives the id of an agent whose file has none from the file's name and time.
 *
 * Every process derives the same id from the same file, so processes agree on it without writing it.
 */
export function derivedAgentId(name: string, timeMs: number): string {
  const time = encodeTime(Math.max(0, Math.floor(timeMs)))
  return withCheck(time + hash(`${name}\0${timeMs}`), name)
}

/** Whether a value is a ULID in its canonical, upper-case form. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(value)
}

/**
 * Whether an id was generated for an agent of this name. If it was not, a file that has the id is a copy of
 * another agent, or a renamed agent. False for ids from other programs.
 */
export function isMadeFor(id: string, name: string): boolean {
  return withCheck(id.slice(0, BODY_LENGTH), name) === id
}

/** Whether an id is the all-zero ULID, which existing clients send to keep the current id. */
export function isNilId(value: unknown): boolean {
  return value === '0'.repeat(26)
}

/** Appends a checksum over the body and the name, which takes the place of half of a ULID's 80 random bits. */
function withCheck(body: string, name: string): string {
  return body + hash(`${body}\0${foldName(name)}`)
}

/** Returns 40 bits of a hash as 8 letters. */
function hash(text: string): string {
  const bytes = sha256(text).subarray(0, 8)
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}

/** The number of characters for the time and half of the random bits. */
const BODY_LENGTH = 18
/** Crockford's base 32, the alphabet of ULIDs. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
