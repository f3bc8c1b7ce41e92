import { takeStart } from '../../base/truncate.ts'
import { toVisible } from '../../base/visible.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'
import type { Skill } from '../../skills/scan-skills.ts'

/** The tool by which a model fetches what a skill says (RFC 0036). */
export const SKILL_TOOL = 'skill'

export const SKILL_GROUP: ToolGroup = {
  id: 'skills',
  title: 'Skills',
  description: 'How to do certain tasks',
  tools: [SKILL_TOOL],
}

/**
 * That tool, for a turn that has these skills: their names stand in its description, with as much of what they are for as
 * finds room. With `isNamed` no list of tool names leaves it out, as the agent names the skills themselves (RFC 0082).
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
/** UTF-16 units; some two thousand tokens, which go with every request. */
const MAX_CHARS = 8000

/**
 * Skills as a model reads them, a line for each, those of crabtalk first. Where there is not enough room descriptions are
 * cut, those of other programs' skills first; then only names are left, and at last not all of them.
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

/** How much of a description is shown, of one's own skills and of those of other programs, until all fits. */
const WIDTHS: readonly (readonly [number, number])[] = [
  [250, 250],
  [250, 120],
  [250, 50],
  [250, 0],
  [120, 0],
  [50, 0],
]

/** Undefined as soon as they have no room: nobody looks at the rest of thousands. */
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
  const line = toVisible(description.trim().replaceAll(/\s+/g, ' '))
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
