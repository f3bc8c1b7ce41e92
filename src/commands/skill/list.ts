import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { type SkillInfo, SourceKind } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk skill list`. */
export const listSkillsCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host, { signal })
  const message = { agent: options.value('agent') ?? '' }
  const { skills, problems } = await request(attached.dispatch, 'listSkills', message, signal)
  if (options.has('json')) return printJson(host, { skills: skills.map(toJsonSkill), problems })
  if (skills.length > 0) {
    const rows = skills.map((skill) => [skill.name, skill.source, skill.description])
    await printTable(host, ['NAME', 'FOLDER', 'DESCRIPTION'], rows)
  } else host.stderr.write(NONE)
  for (const { path, line, message } of problems) {
    host.stderr.write(sanitize(`crabtalk: ${path}:${line}: ${message}`).replaceAll('\n', ' ').concat('\n'))
  }
  return 0
}

/** Converts a skill to its `--json` form. */
export function toJsonSkill({ name, description, source, sourceKind }: SkillInfo) {
  return { name, description, folder: source, own: sourceKind === SourceKind.LOCAL }
}

const NONE = 'No skills yet; create one with crabtalk skill new NAME\n'
