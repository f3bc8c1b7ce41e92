import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { checkTokenName } from '../../core/base/token-name.ts'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { foldName } from '../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { addToken } from '../../core/tokens/token-file.ts'
import { openTokens } from './store.ts'

/** Runs `crabtalk token new`: prints the token, and nothing else, to standard output. */
export const createTokenCommand: CommandHandler = async ({ options, host, signal }) => {
  const name = options.args[0] ?? ''
  checkTokenName(name)
  const agent = await findAgent(host, options.value('agent'))
  await using tokens = await openTokens(host)
  const created = new Date().toISOString()
  const token = await addToken(tokens, { name, created, ...(agent !== undefined && { agent }) }, signal)
  host.stdout.write(`${token}\n`)
  await host.stdout.flush()
  const reach = agent === undefined ? 'any agent' : `the agent ${agent}`
  host.stderr.write(
    `crabtalk: a TCP client with this token may talk to ${reach}, as senders that begin with "${name}:"\n` +
      `crabtalk: it is shown only now; crabtalk token revoke ${name} revokes it\n`,
  )
  return 0
}

/** Returns the agent's name as in its file. Throws `missing` when there is no such agent. */
async function findAgent(host: Host, name: string | undefined): Promise<string | undefined> {
  if (name === undefined) return undefined
  const files = await readAgentFiles(resolvePaths(host).agents)
  const names = [DEFAULT_AGENT, ...files.map((file) => file.name)]
  const found = names.find((one) => foldName(one) === foldName(name))
  if (found !== undefined) return found
  throw new CrabError('missing', `Cannot create a token for the agent "${name}": no agent has that name`, {
    hint: didYouMean(name, names) ?? 'crabtalk agent list',
  })
}
