import { basename, dirname, join, resolve } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import { type Skill, type SkillProblem, type SkillRoot, scanSkills } from '../../core/skills/scan-skills.ts'
import { readBody } from '../../core/skills/skill-body.ts'
import { skillRoots } from '../../core/skills/skill-roots.ts'

/** Runs `crabtalk skill check`: reports the issues of all available skills, or of those in a folder. */
export const checkSkillsCommand: CommandHandler = async ({ options, host }) => {
  const [folder] = options.args
  const roots = folder === undefined ? await defaultRoots(host) : [toRoot(host, folder)]
  const { skills, problems: found } = await scanSkills(roots)
  const problems = [...found, ...(await Promise.all(skills.map(checkBody))).flat()]
  const warnings = skills.flatMap(findPortabilityWarnings)
  if (folder !== undefined && skills.length + problems.length === 0) throw noSkillsIn(folder)
  if (options.has('json')) {
    const checked = skills.map(({ name, folder: where }) => ({ name, folder: where }))
    printJson(host, { skills: checked, problems, warnings })
  } else host.stdout.write(sanitize(formatReport(skills.length, problems, warnings)))
  return problems.length > 0 ? ERROR_KINDS.config.exit : 0
}

async function defaultRoots(host: Host): Promise<SkillRoot[]> {
  const paths = resolvePaths(host)
  return skillRoots(paths, host.homeDir, await loadConfig(paths))
}

function toRoot(host: Host, typed: string): SkillRoot {
  const path = resolve(host.cwd(), typed)
  return { path: basename(path) === 'SKILL.md' ? dirname(path) : path, isOwn: true }
}

/** Reads the body of a skill, whose size is otherwise checked only when the skill is used. */
async function checkBody(skill: Skill): Promise<SkillProblem[]> {
  const reason = await readBody(skill).then(() => undefined, toCrabError)
  return reason ? [{ path: join(skill.folder, 'SKILL.md'), line: 1, message: reason.message }] : []
}

/** Reports what works here but not in other programs (agentskills.io). */
function findPortabilityWarnings({ name, description, folder }: Skill): SkillProblem[] {
  const isPortable = name === basename(folder) && isPortableName(name)
  const messages = [
    ...(isPortable ? [] : [NAME_WARNING]),
    ...(description.length <= MAX_DESCRIPTION ? [] : [DESCRIPTION_WARNING]),
  ]
  return messages.map((message) => ({ path: join(folder, 'SKILL.md'), line: 1, message }))
}

const MAX_DESCRIPTION = 1024
const NAME_WARNING =
  'other programs require "name" to be that of its folder, in lowercase letters, digits and hyphens'
const DESCRIPTION_WARNING = `other programs require a "description" of at most ${MAX_DESCRIPTION} characters`

function formatReport(
  count: number,
  problems: readonly SkillProblem[],
  warnings: readonly SkillProblem[],
): string {
  const lines = [
    ...problems.map(({ path, line, message }) => `${path}:${line}: ${message}`),
    ...warnings.map(({ path, line, message }) => `${path}:${line}: warning: ${message}`),
  ]
  if (problems.length === 0) lines.push(`${pluralize(count, 'skill')}, no problems`)
  return `${lines.map((line) => line.replaceAll('\n', ' ')).join('\n')}\n`
}

function noSkillsIn(folder: string): CrabError {
  return new CrabError('missing', `Cannot find a skill in ${folder}`, {
    hint: 'a skill is a folder with a SKILL.md',
  })
}

/**
 * Whether other programs accept the name of a skill, too (agentskills.io): lower-case letters, digits and
 * hyphens.
 */
export function isPortableName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
}
