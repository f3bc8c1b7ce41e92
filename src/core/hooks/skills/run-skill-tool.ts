import { CrabError } from '../../base/errors.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { Skill } from '../../skills/scan-skills.ts'
import { readBody } from '../../skills/skill-body.ts'
import { readSkillFile } from './skill-file.ts'
import { formatSkillList } from './skill-tool.ts'
import { tagSkill } from './wrap-skill.ts'

/**
 * Runs a call of the tool. Returns the skill with the given name, or with `file` another file of that skill.
 * For any other words it lists the skills whose name or description contains all of them; without words it
 * lists all skills (ADR 0144). Throws `invalid` for arguments that are not strings, and fails as readBody()
 * and readSkillFile() do.
 */
export async function runSkillTool(
  args: Readonly<Record<string, unknown>>,
  skills: readonly Skill[],
): Promise<ToolOutput> {
  const query = readText('name', args)
  const file = readText('file', args)
  const skill = findSkill(query, skills)
  if (skill && file !== '') return { output: await readSkillFile(skill, file), isError: false }
  if (skill) return { output: tagSkill(skill, await readBody(skill)), isError: false }
  const found = searchSkills(query, skills)
  if (found.length > 0) return { output: `${FOUND}\n${formatSkillList(found, MAX_CHARS)}`, isError: false }
  const known =
    skills.length === 0 ? 'no skills are available' : `the skills are:\n${formatSkillList(skills, MAX_CHARS)}`
  return { output: `No skill is called, or is about, ${JSON.stringify(query)}; ${known}`, isError: true }
}

const FOUND = 'Call this again with one of these names to read that skill:'
/** The longest list, in UTF-16 units. */
const MAX_CHARS = 8000

function readText(key: 'name' | 'file', { [key]: value }: Readonly<Record<string, unknown>>): string {
  if (typeof value === 'string') return value.trim()
  if (value === undefined || value === null) return ''
  throw new CrabError('invalid', `Cannot read a skill: ${key} must be a string`)
}

/**
 * Finds a skill by its exact name, with or without a leading `/` or `/skill:`; otherwise the only one that
 * differs in case alone.
 */
function findSkill(query: string, skills: readonly Skill[]): Skill | undefined {
  const name = query.replace(/^\/(?:skill:)?/, '')
  const alike = skills.filter((skill) => skill.name.toLowerCase() === name.toLowerCase())
  return skills.find((skill) => skill.name === name) ?? (alike.length === 1 ? alike[0] : undefined)
}

/** Finds skills by words; those with the words in their names come first. */
function searchSkills(query: string, skills: readonly Skill[]): Skill[] {
  const words = query.toLowerCase().split(/\s+/)
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const named = skills.filter(({ name }) => has(name))
  return [
    ...named,
    ...skills.filter((skill) => !named.includes(skill) && has(`${skill.name} ${skill.description}`)),
  ]
}
