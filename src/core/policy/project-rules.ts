import type { ProjectServerFile } from '../config/project-server-file.ts'
import type { Rule } from './types.ts'

/**
 * Whether a rule applies to the tools of a server that a project's file declares: all that restrict, and those that
 * allow in this turn, in this conversation for that file with that content, or in the entry. Any other project can
 * give the name of a stored rule to another program (ADR 0220).
 */
export function isProjectRule({ effect, projects }: Rule, { file, sha256 }: ProjectServerFile): boolean {
  if (effect !== 'allow' || projects === 'any') return true
  return projects?.file === file && projects.sha256 === sha256
}
