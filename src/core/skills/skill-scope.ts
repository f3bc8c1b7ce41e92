/** Whether an agent may use a skill: its `skills` names it, or names none. */
export function mayUseSkill(name: string, scope: readonly string[]): boolean {
  return scope.length === 0 || scope.includes(name)
}
