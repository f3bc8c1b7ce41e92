/**
 * Whether other programs accept the name of a skill, too (agentskills.io): lower-case letters, digits and
 * hyphens.
 */
export function isPortableName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
}
