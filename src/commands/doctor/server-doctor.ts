import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { readAgents, runChecks } from './doctor.ts'
import { findCheckedServers } from './servers/checked-servers.ts'
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
  const check = checkSelectedServers.bind(undefined, selection)
  return await runChecks(invocation, [['mcp servers', check]], true)
}
