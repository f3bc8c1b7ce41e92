import { sha256 } from '../base/sha256.ts'
import { noSessionId } from './session-errors.ts'
import type { Pair } from './types.ts'

/** What the file of a session is called behind its id. */
export const SESSION_EXTENSION = '.jsonl'

/** What the ids of a pair's sessions begin with: no sender ever becomes a part of a path (decision 8). */
export function toSessionPrefix({ agentId, sender }: Pair): string {
  return `${sha256(`${agentId}\0${sender}`).toString('hex').slice(0, PAIR_DIGITS)}-`
}

/** What the ids of all sessions of its pair begin with. */
export function toPairPart(id: string): string {
  return id.slice(0, PAIR_DIGITS + 1)
}

/** The file of a session. Fails with `invalid` for what is no session id, so that it never becomes a path. */
export function toSessionFile(id: string): string {
  checkSessionId(id)
  return id + SESSION_EXTENSION
}

/** The id of the session whose file this is, or undefined for any other file. */
export function parseSessionFile(name: string): string | undefined {
  const id = name.endsWith(SESSION_EXTENSION) ? name.slice(0, -SESSION_EXTENSION.length) : ''
  return SESSION_ID.test(id) ? id : undefined
}

/** Fails with `invalid` for what is no session id. */
export function checkSessionId(id: string): void {
  if (!SESSION_ID.test(id)) throw noSessionId(id)
}

const PAIR_DIGITS = 16
const SESSION_ID = /^[0-9a-f]{16}-[0-9A-HJKMNP-TV-Z]{26}$/
