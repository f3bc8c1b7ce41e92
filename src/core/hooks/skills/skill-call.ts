/** Finds the skills that a message begins with, as `/name` or `/skill:name`, and the text after the name. */
export function findSkillCalls<T extends { name: string }>(
  content: string,
  skills: readonly T[],
): { skill: T; args: string }[] {
  return skills.flatMap((skill) => {
    const word = [`/${skill.name}`, `/skill:${skill.name}`].find((one) => content.startsWith(one))
    const rest = word === undefined ? 'none' : content.slice(word.length)
    return /^(?:\s|$)/.test(rest) ? [{ skill, args: rest.trim() }] : []
  })
}
