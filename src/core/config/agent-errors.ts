import { CrabError } from '../base/errors.ts'
import { didYouMean } from '../base/nearest.ts'
import type { IdentifiedFile } from './agent-files.ts'

/** No agent has that name. */
export function missingAgent(name: string, files: readonly IdentifiedFile[]): CrabError {
  const names = files.map((file) => file.name)
  const hint = didYouMean(name, names) ?? 'crabtalk agent list shows the agents there are'
  return new CrabError('missing', `Cannot find the agent "${name}"`, { hint })
}

/** A prompt lies where an agent's is to be written; `path` is without suffix. */
export function foreignPrompt(what: string, path: string): CrabError {
  return new CrabError('conflict', `${what}: the prompt of another agent lies in ${path}.md`, {
    hint: 'move that file away',
  })
}

/** The name is another agent's; `what` says what cannot be done. */
export function takenName(what: string): CrabError {
  return new CrabError('conflict', `${what}: an agent of that name exists`, {
    hint: 'upper and lower case are one name',
  })
}
