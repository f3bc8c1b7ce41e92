import { CrabError } from '../../../core/base/errors.ts'

/** What a start ends with whose questions a person has left with Ctrl-D: nothing is started. */
export function unanswered(): CrabError {
  return new CrabError('cancelled', 'Cannot start daemon: a question was left without an answer', {
    hint: 'crabup daemon start asks again; Enter takes what it offers',
  })
}
