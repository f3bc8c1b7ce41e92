import { join } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { createFile } from '../../core/base/files.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import { scanSkills, validateSkill } from '../../core/skills/scan-skills.ts'
import { skillRoots } from '../../core/skills/skill-roots.ts'
import { isPortableName } from './check.ts'

/**
 * Runs `crabtalk skill new`: creates a skill whose text is still to be written, and prints the path of its
 * file.
 */
export const newSkillCommand: CommandHandler = async ({ options, host }) => {
  const [name = '', description = ''] = options.args.map((arg) => arg.trim())
  const issue = validateSkill(name, description) ?? (isPortableName(name) ? undefined : NO_CAPITALS)
  if (issue !== undefined)
    throw new CrabError('usage', `Cannot create the skill: ${issue}`, { hint: EXAMPLE })
  const paths = resolvePaths(host)
  const { skills } = await scanSkills(skillRoots(paths, host.homeDir, await loadConfig(paths)))
  const path = join(paths.skills, name, 'SKILL.md')
  const existing = skills.find((skill) => skill.name === name)
  if (existing) throw nameTakenError(name, existing.folder)
  if (!(await createFile(path, renderSkill(name, description))))
    throw nameTakenError(name, join(paths.skills, name))
  host.stdout.write(sanitize(`${path}\n`))
  return 0
}

const NO_CAPITALS = 'its "name" must be lowercase letters, digits and hyphens, as other programs require'
const EXAMPLE = 'for example crabtalk skill new changelog "Writes the changelog; for use before a release"'

function renderSkill(name: string, description: string): string {
  const isPlain = /^[\p{L}\p{N}][^:#\n\r]*$/u.test(description)
  const shown = isPlain ? description : JSON.stringify(description) // YAML reads it the same
  return `---\nname: ${name}\ndescription: ${shown}\n---\n\nDescribe here, step by step, what to do.\n`
}

function nameTakenError(name: string, folder: string): CrabError {
  return new CrabError('conflict', `Cannot create the skill "${name}": it already exists in ${folder}`, {
    hint: 'choose another name, or edit that one',
  })
}
