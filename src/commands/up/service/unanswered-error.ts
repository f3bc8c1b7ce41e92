import { CrabError } from '../../../core/base/errors.ts'

/** Returns the error of a start whose question the user left with Ctrl-D; nothing is started then. */
export function unansweredError(): CrabError {
  return new CrabError('cancelled', 'Cannot start daemon: you left a question unanswered', {
    hint: 'crabup daemon start asks again; press Enter to take what it offers',
  })
}
