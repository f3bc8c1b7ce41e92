import type { SkillInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import { inColumns, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/skills`: lists the agent's skills, and the problems of skills that cannot be loaded. */
export async function showSkills(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent } = context.state()
  const { skills, problems } = await request(context.dispatch, 'listSkills', { agent }, signal)
  const rows = skills.map(({ name, description }): [string, string] => [`/${name}`, description])
  const lines = [
    skills.length === 0
      ? `${agent} has no skills; add one as skills/NAME/SKILL.md in the home`
      : 'Text after the name is sent with the skill. If a command has the same name, type /skill:NAME.',
    ...(rows.length === 0 ? [] : [inColumns(rows)]),
    ...problems.map(({ path, line, message }) => `${path}:${line}: ${message}`),
  ]
  showOverlay(context, newPage(`Skills of ${agent}`, lines.join('\n\n')))
}

/**
 * Finds the skill that a line such as `/name …` or `/skill:name …` starts with, and returns the names of all
 * skills.
 */
export async function findSkill(
  line: string,
  { dispatch, state }: Pick<SlashContext, 'dispatch' | 'state'>,
  signal: AbortSignal,
): Promise<{ found: SkillInfo | undefined; names: string[] }> {
  const { skills } = await request(dispatch, 'listSkills', { agent: state().agent }, signal)
  return { found: skills.find(({ name }) => begins(line, name)), names: skills.map(({ name }) => name) }
}

function begins(line: string, name: string): boolean {
  const heads = [`/${name}`, `/skill:${name}`]
  return heads.some((head) => line === head || (line.startsWith(head) && /^\s/.test(line.slice(head.length))))
}
