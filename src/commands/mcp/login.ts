import { platform } from 'node:os'
import { readSecret } from '../../cli/ask/secret.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { readLines } from '../../cli/read-lines.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { logIn } from '../../edge/oauth/log-in.ts'
import { logOut } from '../../edge/oauth/log-out.ts'
import type { StoredLogin } from '../../edge/oauth/login-store.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'
import { openLoginHome } from './login-home.ts'
import {
  applyLogin,
  findLoginTarget,
  type LoginTarget,
  reconnect,
  refuseOtherCredentials,
  toConfiguredLogin,
} from './login-target.ts'
import { hasBrowser, openBrowser } from './open-browser.ts'

/** Runs `crabtalk mcp login`. */
export const logInCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const target = await findLoginTarget(
    attached.dispatch,
    { word: options.args[0] ?? '', agent: readAgentOption(options), host },
    signal,
  )
  if (target.entry) refuseOtherCredentials(target.entry)
  const login = await requestLogin(target, options, host, signal)
  const [name = ''] = options.args
  const { entry } = target
  const applying = entry && applyLogin(attached.dispatch, { entry, agent: readAgentOption(options) }, signal)
  const tools = applying && (await withProgress(host, `connecting ${name}`, applying))
  const { url, server, tokens } = login
  const expires = tokens?.expiresAt
  if (options.has('json'))
    return printJson(host, {
      name: target.entry?.name ?? null,
      url,
      issuer: server.metadata.issuer,
      scope: tokens?.scope ?? null,
      expires_at: expires === undefined ? null : new Date(expires).toISOString(),
      tools: tools ?? null,
    })
  host.stdout.write(
    sanitize(`logged in to ${name}${tools === undefined ? '' : `: ${pluralize(tools, 'tool')}`}\n`),
  )
  return 0
}

/** Runs `crabtalk mcp logout`. */
export const logOutCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const { url, entry } = await findLoginTarget(
    attached.dispatch,
    { word: options.args[0] ?? '', agent: readAgentOption(options), host },
    signal,
  )
  await using home = await openLoginHome(host)
  const { wasLoggedIn, notRevoked } = await logOut(url, home, signal)
  const [name = ''] = options.args
  if (!wasLoggedIn) throw new CrabError('missing', `Cannot log out of ${name}: you are not logged in`)
  if (entry && attached.place === 'daemon')
    await reconnect(attached.dispatch, { agent: readAgentOption(options), name: entry.name }, signal).catch(
      ignore,
    )
  if (notRevoked !== undefined)
    host.stderr.write(sanitize(`crabtalk: the tokens are valid until they expire: ${notRevoked}\n`))
  if (options.has('json'))
    return printJson(host, { name: entry?.name ?? null, url, revoked: notRevoked === undefined })
  host.stdout.write(sanitize(`logged out of ${name}\n`))
  return 0
}

/** Reports nothing: a server without its login cannot be connected to, which its state shows. */
function ignore(): undefined {}

async function requestLogin(
  target: LoginTarget,
  options: ParsedOptions,
  host: Host,
  signal: AbortSignal,
): Promise<StoredLogin> {
  const configured = toConfiguredLogin(target)
  const client = (await readClient(options, host, signal)) ?? configured.client
  const ownIssuer = readIssuer(options)
  const isClientOnly = options.has('client-credentials')
  if (!isClientOnly) requireUser(options, host)
  await using home = await openLoginHome(host, {
    onVault: (source) => host.stderr.write(`crabtalk: created the vault; the source of its key: ${source}\n`),
  })
  const login = {
    ...configured,
    client,
    grant: isClientOnly ? 'client' : 'user',
    scope: options.value('scope') ?? configured.scope,
    issuer: ownIssuer ?? configured.issuer,
    trustsIssuer: ownIssuer !== undefined || configured.trustsIssuer === true,
    port: readPort(options) ?? configured.port,
    ask: (address: string, stop: AbortSignal) => showAddress(address, { options, host }, stop),
  } as const
  return await logIn(login, home, signal)
}

/** Shows the address and opens it; resolves with a line that the user types. */
async function showAddress(
  address: string,
  { options, host }: { options: ParsedOptions; host: Host },
  signal: AbortSignal,
): Promise<string | undefined> {
  const opens = !options.has('no-browser') && hasBrowser(host, platform())
  const isOpen = opens && (await openBrowser(address, host, platform()))
  const what = isOpen
    ? 'Your browser opens this address; log in there'
    : 'Open this address in a browser to log in'
  host.stderr.write(sanitize(`${what}:\n\n  ${address}\n\n`))
  using terminal = host.terminal()
  if (!terminal && host.stdinKind() === 'none') return undefined
  host.stderr.write('If it ends on a page that cannot be loaded, paste the address of that page here.\n')
  if (terminal) return await terminal.readLine(signal)
  for await (const line of readLines(host.stdin())) if (line.trim() !== '') return line
  return undefined
}

/** Throws when there is neither a browser nor anybody who could paste an address. */
function requireUser(options: ParsedOptions, host: Host): void {
  if (options.has('no-browser') || hasBrowser(host, platform()) || host.stdinKind() !== 'none') return
  using terminal = host.terminal()
  if (terminal) return
  throw new CrabError(
    'usage',
    `Cannot log in to ${options.args[0]}: there is neither a browser nor a terminal here`,
    {
      hint: 'run it at a terminal, or with --no-browser and open the address that it prints',
    },
  )
}

/** Reads the client that the user registered; its secret is typed, or comes on standard input. */
async function readClient(options: ParsedOptions, host: Host, signal: AbortSignal) {
  const id = options.value('client-id')
  if (!options.has('client-secret')) return id === undefined ? undefined : { client_id: id }
  if (id === undefined) throw new CrabError('usage', 'Cannot use --client-secret without --client-id')
  const secret = (await readClientSecret(host, signal))?.trim() ?? ''
  if (secret !== '') return { client_id: id, client_secret: secret }
  throw new CrabError('usage', 'Cannot log in: the client secret is empty')
}

async function readClientSecret(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const screen = host.stdinKind() === 'terminal' ? host.screen() : undefined
  if (screen) return await readSecret({ screen, host }, 'Client secret (not shown): ')
  signal.throwIfAborted()
  for await (const line of readLines(host.stdin())) return line
  return undefined
}

function readPort(options: ParsedOptions): number | undefined {
  const text = options.value('port')
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new CrabError('usage', 'Cannot use --port: it must be a number from 1 to 65535')
}

function readIssuer(options: ParsedOptions): string | undefined {
  const text = options.value('issuer')
  if (text === undefined) return undefined
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
  throw new CrabError('usage', 'Cannot use --issuer: it must be an address such as https://login.example.com')
}
