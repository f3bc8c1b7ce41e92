import { CrabError } from '../base/errors.ts'

/** A name that can be nobody's. */
export function noSessionId(id: string): CrabError {
  const message = `Cannot find session ${JSON.stringify(id)}: that is no session id`
  return new CrabError('invalid', message, { hint: LIST })
}

export function noSuchSession(what: string, cause?: unknown): CrabError {
  return new CrabError('missing', `${what}: there is no such session`, { cause, hint: LIST })
}

/** An append that does not begin where the session ends. */
export function changedMeanwhile(id: string): CrabError {
  const message = `Cannot append to session ${id}: something else has changed it`
  return new CrabError('conflict', message, { hint: 'try again' })
}

const LIST = 'list the sessions with: crabtalk conversation list'
