/** Whether other programs take the name of a skill, too (agentskills.io): small letters, digits and hyphens. */
export function isPortableName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
}
