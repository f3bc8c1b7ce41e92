import type { CommandHandler } from '../../cli/command.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { readBody } from '../../core/skills/skill-body.ts'
import { attach } from '../../daemon/attach.ts'
import { toJsonSkill } from './list.ts'

/** Runs `crabtalk skill show`: prints the body of its SKILL.md, as the agents of this machine read it. */
export const showSkillCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = ''] = options.args
  await using attached = await attach(host, { signal })
  const message = { agent: options.value('agent') ?? '' }
  const { skills } = await request(attached.dispatch, 'listSkills', message, signal)
  const skill = skills.find((one) => one.name === name)
  if (!skill) {
    const names = skills.map((one) => one.name)
    const hint = didYouMean(name, names) ?? 'crabtalk skill list shows all skills'
    throw new CrabError('missing', `Cannot find the skill "${name}"`, { hint })
  }
  const body = (await readBody({ name, folder: skill.source })).trim()
  if (options.has('json')) return printJson(host, { ...toJsonSkill(skill), body })
  host.stdout.write(`${host.stdout.isTerminal ? sanitize(body) : body}\n`)
  return 0
}
