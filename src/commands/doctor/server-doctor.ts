import { type Check, type CheckResult, problem, warning } from '../../cli/check.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { findUnfilledValues, toUnfilledText } from '../../core/config/unfilled-values.ts'
import { formatLocation } from '../../core/config/validation-issue.ts'
import { readAgents, runChecks } from './doctor.ts'
import { findCheckedServers, type ServerSelection } from './servers/checked-servers.ts'
import { checkSelectedServers } from './servers/servers.ts'

/**
 * Runs `crabtalk mcp doctor`: starts the servers and checks what they need, as `crabtalk doctor --deep` does. Throws
 * `missing` for a name that nothing declares.
 */
export const serverDoctorCommand: CommandHandler = async (invocation) => {
  const { options, host } = invocation
  const agent = options.value('agent')
  const selection = { agent, name: options.args[0] }
  const agents = await readAgents(resolvePaths(host))
  if (agent !== undefined && agents.every(({ name }) => name !== agent)) {
    throw new CrabError('missing', `Cannot find the agent "${agent}"`, { hint: 'see crabtalk agent list' })
  }
  await findCheckedServers({ host, agents }, selection)
  const check: Check = async (context, signal) => [
    ...(await checkSelectedServers(selection, context, signal)),
    ...findEntryFindings(context.agents, selection),
  ]
  return await runChecks(invocation, [['mcp servers', check]], true)
}

/** Reports entries that are invalid, and placeholders in others, which `crabtalk doctor` reports as configuration. */
function findEntryFindings(agents: readonly AgentConfig[], { agent, name }: ServerSelection): CheckResult[] {
  const selected = agents.filter((one) => agent === undefined || one.name === agent)
  const isSelected = (one: { name: string }) => name === undefined || one.name === name
  return selected.flatMap(({ name: owner, mcps, invalidMcps = [] }) => [
    ...invalidMcps
      .filter(isSelected)
      .flatMap(({ name: server, problems }) =>
        problems.map((one) =>
          problem(`${server} of ${owner}: ${formatLocation(one)}: ${one.message}`, one.hint),
        ),
      ),
    ...mcps.filter(isSelected).flatMap((entry) =>
      findUnfilledValues(entry).map((one) => {
        const { message, hint } = toUnfilledText(entry.name, owner, one)
        return warning(message, hint)
      }),
    ),
  ])
}
