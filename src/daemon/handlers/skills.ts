import { type SkillList, SourceKind } from '../../core/protocol/crabtalk.generated.ts'
import type { Services } from '../services.ts'

/** `list_skills`: by name; what is wrong with those that cannot be used is told the log. */
export async function listSkills({ skills, node }: Services): Promise<SkillList> {
  const { skills: found, problems } = await skills()
  for (const { path, line, message } of problems) node.log('warn', `${path}:${line}: ${message}`)
  return {
    skills: found.map(({ name, folder, root }) => {
      return { name, source: folder, sourceKind: root.isOwn ? SourceKind.LOCAL : SourceKind.EXTERNAL }
    }),
  }
}
