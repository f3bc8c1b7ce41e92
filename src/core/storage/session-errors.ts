import { CrabError } from '../base/errors.ts'

/** The error for a string that is not a session id. */
export function noSessionId(id: string): CrabError {
  const message = `Cannot find session ${JSON.stringify(id)}: that is not a session id`
  return new CrabError('invalid', message, { hint: LIST })
}

/** The `missing` error for an unknown session; `what` is the first part of its message. */
export function noSuchSession(what: string, cause?: unknown): CrabError {
  return new CrabError('missing', `${what}: it does not exist`, { cause, hint: LIST })
}

/** The error for an append that does not start at the end of the session. */
export function changedMeanwhile(id: string): CrabError {
  const message = `Cannot append to session ${id}: something else has changed it`
  return new CrabError('conflict', message, { hint: 'try again' })
}

const LIST = 'list the sessions with: crabtalk conversation list'
