import { type ListSkillsMsg, type SkillList, SourceKind } from '../../core/protocol/crabtalk.generated.ts'
import { mayUseSkill } from '../../core/skills/skill-scope.ts'
import type { Services } from '../services.ts'

/** `list_skills`: by name, those an agent may use where one is named, and what is wrong with others. */
export async function handleListSkills(
  { skills, agents }: Pick<Services, 'skills' | 'agents'>,
  { agent }: ListSkillsMsg,
): Promise<SkillList> {
  const scope = agent === '' ? [] : (await agents.get(agent, { create: false })).skills
  const { skills: found, problems } = await skills()
  return {
    skills: found
      .filter(({ name }) => mayUseSkill(name, scope))
      .map(({ name, description, folder, root }) => {
        const sourceKind = root.isOwn ? SourceKind.LOCAL : SourceKind.EXTERNAL
        return { name, description, source: folder, sourceKind }
      }),
    problems: problems.map(({ path, line, message }) => ({ path, line, message })),
  }
}
