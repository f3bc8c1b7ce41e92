import { CrabError } from '../../../core/base/errors.ts'

/** Returns the error of a start whose question the user left with Ctrl-D; nothing is started then. */
export function unansweredError(): CrabError {
  return new CrabError('cancelled', 'Cannot start daemon: a question was left without an answer', {
    hint: 'crabup daemon start asks again; Enter takes what it offers',
  })
}
