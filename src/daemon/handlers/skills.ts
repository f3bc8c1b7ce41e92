import { type ListSkillsMsg, type SkillList, SourceKind } from '../../core/protocol/crabtalk.generated.ts'
import { mayUseSkill } from '../../core/skills/skill-scope.ts'
import type { Services } from '../services.ts'

/**
 * Handles `list_skills`: returns the skills by name, limited to those that `agent` may use if one is named,
 * and the issues of invalid skills.
 */
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
