import { sha256 } from '../base/sha256.ts'
import { noSessionId } from './session-errors.ts'
import type { Pair } from './types.ts'

/** The file extension of session files. */
export const SESSION_EXTENSION = '.jsonl'

/**
 * Returns the prefix of the ids of a pair's sessions. It is a hash, so that a sender never becomes part of a
 * path.
 */
export function toSessionPrefix({ agentId, sender }: Pair): string {
  return `${sha256(`${agentId}\0${sender}`).toString('hex').slice(0, PAIR_DIGITS)}-`
}

/** Returns the prefix that a session id shares with all sessions of its pair. */
export function toPairPart(id: string): string {
  return id.slice(0, PAIR_DIGITS + 1)
}

/**
 * Returns the file name of a session. Throws `invalid` for an invalid session id, so that it never becomes a
 * path.
 */
export function toSessionFile(id: string): string {
  checkSessionId(id)
  return id + SESSION_EXTENSION
}

/** Returns the session id of a file name, or undefined for any other file. */
export function parseSessionFile(name: string): string | undefined {
  const id = name.endsWith(SESSION_EXTENSION) ? name.slice(0, -SESSION_EXTENSION.length) : ''
  return SESSION_ID.test(id) ? id : undefined
}

/** Throws `invalid` for an invalid session id. */
export function checkSessionId(id: string): void {
  if (!SESSION_ID.test(id)) throw noSessionId(id)
}

const PAIR_DIGITS = 16
const SESSION_ID = /^[0-9a-f]{16}-[0-9A-HJKMNP-TV-Z]{26}$/
