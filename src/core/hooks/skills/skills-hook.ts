import { basename, dirname } from 'node:path'
import { toCrabError } from '../../base/errors.ts'
import type { AgentConfig } from '../../config/agent-schema.ts'
import { CLASS_RIGHTS } from '../../policy/class-rights.ts'
import type { Trust } from '../../policy/types.ts'
import type { Hook } from '../../runtime/hook.ts'
import type { Skill, SkillProblem } from '../../skills/scan-skills.ts'
import { readBody } from '../../skills/skill-body.ts'
import { mayUseSkill } from '../../skills/skill-scope.ts'
import { findSkillCalls } from './skill-call.ts'
import { SKILL_GROUP, SKILL_TOOL, skillTool } from './skill-tool.ts'
import { wrapSkill } from './wrap-skill.ts'

/**
 * Skills, two ways (RFC 0036): one takes the place of a message that begins with `/` and its name, what names none passes
 * through; and a turn that may have some has a tool that reads them.
 *
 * `scan` is asked each time, so that an edit holds at once. A skill that a person names and that cannot be used is told
 * as a notice, except to an untrusted sender, who reaches by name the same skills as the model of its turn.
 */
export function skillsHook({ scan }: { scan(): Promise<ScanResult> }): Hook {
  return {
    async schema(agent, { trust = 'local' }) {
      const skills = forModel((await scan()).skills, agent, trust)
      return skills.length === 0 ? [] : [skillTool(skills, agent.skills.length > 0)]
    },
    groups: () => [SKILL_GROUP],
    dispatch(name, { agent, trust, args }) {
      if (name !== SKILL_TOOL) return undefined
      return scan().then(async ({ skills }) => {
        const { runSkillTool } = await import('./run-skill-tool.ts') // only now: most turns read none
        return await runSkillTool(args, forModel(skills, agent, trust))
      })
    },
    async preprocess({ agent, content, trust, notice }) {
      if (!mayNameSkill(content)) return undefined
      const isLimited = CLASS_RIGHTS[trust].skills === 'named'
      if (isLimited && agent.skills.length === 0) return undefined
      const { skills, problems } = await scan()
      const allowed = isLimited ? forModel(skills, agent, trust) : usable(skills, agent)
      const call = longest(findSkillCalls(content, allowed))
      if (call) return await expand(call, notice)
      for (const problem of problems) if (isMeant(problem, content)) notice(sentence(problem))
      return undefined
    },
  }
}

interface ScanResult {
  skills: readonly Skill[]
  problems: readonly SkillProblem[]
}

interface Call {
  skill: Skill
  args: string
}

/** A quick look, which most messages end at. */
function mayNameSkill(content: string): boolean {
  return content.startsWith('/') && /^\/[\p{L}\p{N}]/u.test(content)
}

function usable(skills: readonly Skill[], { skills: scope }: AgentConfig): Skill[] {
  return skills.filter(({ name }) => mayUseSkill(name, scope))
}

/** Returns the skills that a model may fetch: those that the agent's file names, where its class reaches no others. */
function forModel(skills: readonly Skill[], agent: AgentConfig, trust: Trust): Skill[] {
  if (CLASS_RIGHTS[trust].skills === 'named' && agent.skills.length === 0) return []
  return usable(skills, agent).filter(({ isForModel }) => isForModel)
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
  return findSkillCalls(content, [{ name: basename(dirname(path)) }]).length > 0
}

function sentence({ path, line, message }: SkillProblem): string {
  return `Cannot use the skill of ${path}:${line}: ${message}`
}
