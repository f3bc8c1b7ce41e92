import type { Config } from '../config/config.ts'
import type { HomePaths } from '../config/paths.ts'
import { type Skill, scanSkills } from '../skills/scan-skills.ts'
import { skillRoots } from '../skills/skill-roots.ts'

/** Lists the skills of a home and of the user. */
export async function listSkills(
  paths: HomePaths,
  homeDir: string,
  config: Config,
): Promise<readonly Skill[]> {
  return (await scanSkills(skillRoots(paths, homeDir, config))).skills
}
