import { CrabError } from '../base/errors.ts'
import { didYouMean } from '../base/nearest.ts'
import type { IdentifiedFile } from './agent-files.ts'

/** The error for an agent name that does not exist, with the nearest name as a hint. */
export function missingAgent(name: string, files: readonly IdentifiedFile[]): CrabError {
  const names = files.map((file) => file.name)
  const hint = didYouMean(name, names) ?? 'crabtalk agent list shows all agents'
  return new CrabError('missing', `Cannot find the agent "${name}"`, { hint })
}

/** The error for a prompt file that already exists at the target of an agent's prompt. `path` has no suffix. */
export function foreignPrompt(what: string, path: string): CrabError {
  return new CrabError('conflict', `${what}: another agent's prompt is at ${path}.md`, {
    hint: 'move that file away',
  })
}

/** The error for a name that another agent has. `what` says what cannot be done. */
export function takenName(what: string): CrabError {
  return new CrabError('conflict', `${what}: an agent of that name exists`, {
    hint: 'choose another name; upper and lower case count as the same',
  })
}
