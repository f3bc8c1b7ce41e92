import { encodeTime } from 'ulid'
import { newUlid } from '../base/ids.ts'
import { sha256 } from '../base/sha256.ts'
import { foldName } from './agent-schema.ts'

/** A fresh id for an agent of this name. */
export function newAgentId(name: string): string {
  return withCheck(newUlid().slice(0, BODY_LENGTH), name)
}

/**
 * The id of an agent whose file has none: made from the file's name and time.
 *
 * Every process that sees the same file derives the same id, so none has to be written to agree on it.
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
 * Whether an id was made for an agent of this name, so that a file of another name that has it is a copy of
 * that agent or the agent renamed. False for ids of other programs.
 */
export function isMadeFor(id: string, name: string): boolean {
  return withCheck(id.slice(0, BODY_LENGTH), name) === id
}

/** Whether an id is the one that existing clients send for "the id it has". */
export function isNilId(value: unknown): boolean {
  return value === '0'.repeat(26)
}

/** Half of a ULID's 80 random bits are a check over the rest and the name. */
function withCheck(body: string, name: string): string {
  return body + hash(`${body}\0${foldName(name)}`)
}

/** 40 bits as 8 letters. */
function hash(text: string): string {
  const bytes = sha256(text).subarray(0, 8)
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}

/** The time and half of the random bits. */
const BODY_LENGTH = 18
/** Crockford's base 32, as ULIDs use it. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
