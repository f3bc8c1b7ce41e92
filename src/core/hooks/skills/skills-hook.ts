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
 * Provides skills in two ways (ADR 0143, ADR 0144): a message that begins with `/` and the name of a skill is
 * replaced by that skill, and a turn that may use skills has a tool that reads them.
 *
 * `scan` is called each time, so that edits take effect immediately. When a user names a skill that cannot be
 * used, a notice says why; an untrusted sender gets no notice, and can name only the skills that the model of
 * its turn can read.
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
        const { runSkillTool } = await import('./run-skill-tool.ts') // loaded lazily: most turns read no skill
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
      for (const problem of problems) if (isMentioned(problem, content)) notice(sentence(problem))
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

/** A cheap check that most messages fail. */
function mayNameSkill(content: string): boolean {
  return content.startsWith('/') && /^\/[\p{L}\p{N}]/u.test(content)
}

function usable(skills: readonly Skill[], { skills: scope }: AgentConfig): Skill[] {
  return skills.filter(({ name }) => mayUseSkill(name, scope))
}

/**
 * Returns the skills that a model may read; a limited trust class reaches only those that the agent's file
 * names.
 */
function forModel(skills: readonly Skill[], agent: AgentConfig, trust: Trust): Skill[] {
  if (CLASS_RIGHTS[trust].skills === 'named' && agent.skills.length === 0) return []
  return usable(skills, agent).filter(({ isForModel }) => isForModel)
}

/** Returns the call with the longest name. Names may contain spaces, so that one may begin with another. */
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

function isMentioned({ path }: SkillProblem, content: string): boolean {
  return findSkillCalls(content, [{ name: basename(dirname(path)) }]).length > 0
}

function sentence({ path, line, message }: SkillProblem): string {
  return `Cannot use the skill in ${path}:${line}: ${message}`
}
