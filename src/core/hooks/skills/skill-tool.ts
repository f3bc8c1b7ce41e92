import { collapseBlanks } from '../../base/sanitize.ts'
import { takeStart } from '../../base/truncate.ts'
import { toVisible } from '../../base/visible.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'
import type { Skill } from '../../skills/scan-skills.ts'

/** The name of the tool with which a model reads a skill (ADR 0144). */
export const SKILL_TOOL = 'skill'

/** The group of the skill tool. */
export const SKILL_GROUP: ToolGroup = {
  id: 'skills',
  title: 'Skills',
  description: 'How to do certain tasks',
  tools: [SKILL_TOOL],
}

/**
 * Builds the tool for a turn that has these skills: its description contains their names, and as much of
 * their descriptions as fits. With `isNamed`, which means that the agent names the skills itself, a list of
 * tool names does not exclude the tool (ADR 0144).
 */
export function skillTool(skills: readonly Skill[], isNamed: boolean): ToolSpec {
  return {
    name: SKILL_TOOL,
    description: `${HEAD}\n${formatSkillList(skills, MAX_CHARS)}`,
    parameters: {
      type: 'object',
      properties: { name: STRING, file: STRING },
      required: ['name'],
    },
    readOnly: true,
    ...(isNamed && { isGuide: true }),
  }
}

const STRING = { type: 'string' }
const HEAD =
  'Read a skill: instructions for a kind of task. When one fits the task, read it before you begin; words in place of a name search for one. With file it reads another file of the skill.'
/** UTF-16 units; about two thousand tokens, which are sent with every request. */
const MAX_CHARS = 8000

/**
 * Lists skills for a model, one per line, those of crabtalk first. When they do not fit, descriptions are
 * truncated, those of other programs' skills first; then only names are listed, and finally not all of them.
 */
export function formatSkillList(skills: readonly Skill[], maxChars: number): string {
  const own = skills.filter(({ root }) => root.isOwn)
  const others = skills.filter(({ root }) => !root.isOwn)
  for (const [ofOwn, ofOthers] of WIDTHS) {
    const text = listLines([...own, ...others], ({ root }) => (root.isOwn ? ofOwn : ofOthers), maxChars)
    if (text !== undefined) return text
  }
  return listNames([...own, ...others], maxChars)
}

/**
 * The description widths for crabtalk's skills and for those of other programs, tried in order until
 * everything fits.
 */
const WIDTHS: readonly (readonly [number, number])[] = [
  [250, 250],
  [250, 120],
  [250, 50],
  [250, 0],
  [120, 0],
  [50, 0],
]

/** Returns undefined as soon as the lines do not fit, so that thousands of skills cost little. */
function listLines(
  skills: readonly Skill[],
  toWidth: (skill: Skill) => number,
  maxChars: number,
): string | undefined {
  const lines: string[] = []
  let chars = -1
  for (const skill of skills) {
    const line = toLine(skill, toWidth(skill))
    chars += line.length + 1
    if (chars > maxChars) return undefined
    lines.push(line)
  }
  return lines.join('\n')
}

function toLine({ name, description }: Skill, width: number): string {
  return width === 0 ? `- ${name}` : `- ${name}: ${inShort(description, width)}`
}

function inShort(description: string, width: number): string {
  const line = toVisible(collapseBlanks(description))
  return line.length <= width ? line : `${takeStart(line, width - 1).trimEnd()}…`
}

function listNames(skills: readonly Skill[], maxChars: number): string {
  let text = ''
  for (const [at, { name }] of skills.entries()) {
    const more = `${text}${at === 0 ? '' : ', '}${name}`
    if (more.length > maxChars) return `${text} and ${skills.length - at} more`
    text = more
  }
  return text
}
