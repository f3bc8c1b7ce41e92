import { basename, dirname } from 'node:path'
import { toCrabError } from '../../base/errors.ts'
import type { AgentConfig } from '../../config/agent-schema.ts'
import type { Hook } from '../../runtime/hook.ts'
import type { Skill, SkillProblem } from '../../skills/scan-skills.ts'
import { readBody } from '../../skills/skill-body.ts'
import { isSkillOf } from '../../skills/skill-scope.ts'
import { callsOf } from './skill-call.ts'
import { wrapSkill } from './wrap-skill.ts'

/**
 * Puts a skill in the place of a message that begins with `/` and its name (RFC 0036); what names none passes through.
 *
 * `scan` is asked for every such message, so that an edit holds at once. One that cannot be used is told as a notice.
 */
export function skillsHook({ scan }: { scan(): Promise<Scanned> }): Hook {
  return {
    async preprocess({ agent, content, notice }) {
      if (!MAY_NAME_SKILL.test(content)) return undefined
      const { skills, problems } = await scan()
      const call = longest(callsOf(content, usable(skills, agent)))
      if (call) return await expand(call, notice)
      for (const problem of problems) if (isMeant(problem, content)) notice(sentence(problem))
      return undefined
    },
  }
}

interface Scanned {
  skills: readonly Skill[]
  problems: readonly SkillProblem[]
}

interface Call {
  skill: Skill
  args: string
}

/** A quick look, which most messages end at. */
const MAY_NAME_SKILL = /^\/[\p{L}\p{N}]/u

function usable(skills: readonly Skill[], { skills: scope }: AgentConfig): Skill[] {
  return skills.filter(({ name }) => isSkillOf(name, scope))
}

/** Names may have blanks in them. */
function longest(calls: readonly Call[]): Call | undefined {
  return calls.toSorted((a, b) => b.skill.name.length - a.skill.name.length)[0]
}

async function expand({ skill, args }: Call, notice: (text: string) => void): Promise<string | undefined> {
  try {
    return wrapSkill(skill, await readBody(skill), args)
  } catch (reason) {
    notice(toCrabError(reason).message)
    return undefined
  }
}

function isMeant({ path }: SkillProblem, content: string): boolean {
  return callsOf(content, [{ name: basename(dirname(path)) }]).length > 0
}

function sentence({ path, line, message }: SkillProblem): string {
  return `Cannot use the skill of ${path}:${line}: ${message}`
}
