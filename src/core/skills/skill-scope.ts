/** Whether an agent may use a skill: its `skills` lists the name, or is empty. */
export function mayUseSkill(name: string, scope: readonly string[]): boolean {
  return scope.length === 0 || scope.includes(name)
}
