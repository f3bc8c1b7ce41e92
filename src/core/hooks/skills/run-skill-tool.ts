import { CrabError } from '../../base/errors.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { Skill } from '../../skills/scan-skills.ts'
import { readBody } from '../../skills/skill-body.ts'
import { readSkillFile } from './skill-file.ts'
import { formatSkillList } from './skill-tool.ts'
import { tagSkill } from './wrap-skill.ts'

/**
 * What a call of the tool gives: the skill of that name, or another file of it; else those in whose name or description all of its words stand,
 * all for no word (RFC 0036). Throws `invalid` for arguments that are no texts, and as readBody() and readSkillFile().
 */
export async function runSkillTool(
  args: Readonly<Record<string, unknown>>,
  skills: readonly Skill[],
): Promise<ToolOutput> {
  const asked = readText('name', args)
  const file = readText('file', args)
  const skill = findSkill(asked, skills)
  if (skill && file !== '') return { output: await readSkillFile(skill, file), isError: false }
  if (skill) return { output: tagSkill(skill, await readBody(skill)), isError: false }
  const found = searchSkills(asked, skills)
  if (found.length > 0) return { output: `${FOUND}\n${formatSkillList(found, MAX_CHARS)}`, isError: false }
  const known = skills.length === 0 ? 'there are none' : `there are:\n${formatSkillList(skills, MAX_CHARS)}`
  return { output: `No skill is called, or is about, ${JSON.stringify(asked)}; ${known}`, isError: true }
}

const FOUND = 'Call this again with one of these names to read that skill:'
/** UTF-16 units of a list. */
const MAX_CHARS = 8000

function readText(key: 'name' | 'file', { [key]: value }: Readonly<Record<string, unknown>>): string {
  if (typeof value === 'string') return value.trim()
  if (value === undefined || value === null) return ''
  throw new CrabError('invalid', `Cannot read a skill: ${key} must be a text`)
}

/** Of the very name, however a person would type it; else the only one that differs in capitals alone. */
function findSkill(asked: string, skills: readonly Skill[]): Skill | undefined {
  const name = asked.replace(/^\/(?:skill:)?/, '')
  const alike = skills.filter((skill) => skill.name.toLowerCase() === name.toLowerCase())
  return skills.find((skill) => skill.name === name) ?? (alike.length === 1 ? alike[0] : undefined)
}

/** Those with the words in their names come first. */
function searchSkills(asked: string, skills: readonly Skill[]): Skill[] {
  const words = asked.toLowerCase().split(/\s+/)
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const named = skills.filter(({ name }) => has(name))
  return [
    ...named,
    ...skills.filter((skill) => !named.includes(skill) && has(`${skill.name} ${skill.description}`)),
  ]
}
