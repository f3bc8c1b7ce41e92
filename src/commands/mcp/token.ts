import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { toLoginUrl } from '../../edge/credentials/login-name.ts'
import { getAccessToken } from '../../edge/oauth/access-token.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'
import { openLoginHome } from './login-home.ts'
import { findLoginTarget, readAddress } from './login-target.ts'

/**
 * Runs `crabtalk mcp token`, the auth helper of servers with a login: prints the token with its expiry as JSON. On a
 * terminal it prints the expiry only, unless --reveal is given.
 */
export const loginTokenCommand: CommandHandler = async ({ options, host, signal }) => {
  const url = await findUrl(options, host, signal)
  await using home = await openLoginHome(host, { isQuiet: true })
  const refused = host.env['CRABTALK_MCP_REFUSED'] ?? ''
  const { token, expiresAt } = await getAccessToken({ url, refused }, home, signal)
  const expires = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString()
  if (!host.stdout.isTerminal || options.has('reveal'))
    return printJson(host, { token, ...(expires !== undefined && { expires_at: expires }) })
  const until = expires === undefined ? 'does not expire' : `expires ${relativeTime(expires, Date.now())}`
  host.stdout.write(`logged in to ${url}; the token ${until} (--reveal prints it)\n`)
  return 0
}

/**
 * Returns the address of the server: that of the entry whose helper this is, or of the argument. A helper never gets
 * the token of another server than the one that it is run for.
 */
async function findUrl(options: ParsedOptions, host: Host, signal: AbortSignal): Promise<string> {
  const own = host.env['CRABTALK_MCP_URL']
  const [word] = options.args
  if (word === undefined) {
    if (own !== undefined && URL.canParse(own)) return own
    throw new CrabError('usage', 'Cannot get a token: no server is named', {
      hint: 'crabtalk mcp token NAME',
    })
  }
  const address = readAddress(word) ?? (own === undefined ? await findByName(options, host, signal) : own)
  if (own === undefined || toLoginUrl(own) === toLoginUrl(address)) return address
  throw new CrabError('denied', `Cannot give the token of ${toLoginUrl(address)} to ${toLoginUrl(own)}`)
}

async function findByName(options: ParsedOptions, host: Host, signal: AbortSignal): Promise<string> {
  await using attached = await attachServers(host, signal)
  const at = { word: options.args[0] ?? '', agent: readAgentOption(options), host }
  return (await findLoginTarget(attached.dispatch, at, signal)).url
}
