import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { BUILT_IN_TOKEN, checkTokenName } from '../../core/base/token-name.ts'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { foldName } from '../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import { SqliteLeases } from '../../core/lease/sqlite-leases.ts'
import { addToken, noSuchToken, removeToken } from '../../core/tokens/token-file.ts'
import { replaceToken } from '../../core/transport/token.ts'
import { listTokens } from './list.ts'

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
    `crabtalk: a TCP client with this token may talk to ${reach}, as senders that start with "${name}:"\n` +
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

/** Runs `crabtalk token revoke`; a running daemon notices the change by itself. */
export const revokeTokenCommand: CommandHandler = async ({ options, host, signal }) => {
  const name = options.args[0] ?? ''
  await using tokens = await openTokens(host)
  if (name !== BUILT_IN_TOKEN) {
    await removeToken(tokens, name, signal)
    host.stdout.write(`revoked ${name}\n`)
    return 0
  }
  if (!(await listTokens(tokens.run)).some((one) => one.name === BUILT_IN_TOKEN)) throw noSuchToken(name)
  await replaceToken(tokens.run)
  host.stdout.write('revoked tcp; run/tcp.token contains a new token\n')
  return 0
}

/**
 * Opens the tokens of a home for changes, with the leases that exclude other processes. Disposing releases
 * them.
 */
async function openTokens(host: Host) {
  const paths = resolvePaths(host)
  await refuseForeignHome(paths)
  const leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  return {
    run: paths.run,
    lock: (resource: string, signal: AbortSignal) => leases.take(resource, signal),
    [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose](),
  }
}
