import { tmpdir } from 'node:os'
import { CrabError } from '../core/base/errors.ts'
import { userDirectory } from '../core/base/user.ts'
import { DEFAULT_AGENT } from '../core/config/default-name.ts'
import { homePaths } from '../core/config/paths.ts'
import { requestHello } from '../core/protocol/dispatch.ts'
import { readAddressFile } from '../core/transport/address-file.ts'
import { socketDispatch } from '../core/transport/client.ts'
import { formatEndpoint, type SocketEndpoint } from '../core/transport/endpoint.ts'
import { daemonSocketEndpoint } from '../core/transport/local-endpoint.ts'
import { readToken } from '../core/transport/token.ts'
import { type Client, createClient } from './agents-client.ts'

/** The daemon to connect to. */
export interface ClientOptions {
  /** Its home directory; by default $CRABTALK_HOME, else ~/.crabtalk. */
  home?: string
  /** Used instead of the home's own socket, for example `{ kind: 'tcp', host: '127.0.0.1', port: 6688 }`. */
  endpoint?: SocketEndpoint
  /** The token for TCP; by default that of the home. */
  token?: string
  signal?: AbortSignal
}

/**
 * Creates a client of the daemon of a home. Every request opens its own connection, so there is nothing to
 * close.
 *
 * With a daemon that does not know `hello`, the operations of the fixed protocol work (ADR 0161) and all
 * others reject with `unavailable`.
 *
 * Rejects with `unavailable` when no daemon is running there, `denied` for a wrong token.
 */
export async function connect(options: ClientOptions = {}): Promise<Client> {
  const { home, signal = new AbortController().signal } = options
  const env = home === undefined ? process.env : { ...process.env, CRABTALK_HOME: home }
  const { run } = homePaths(env, { cwd: process.cwd(), homeDir: userDirectory() })
  const endpoint = options.endpoint ?? (await findEndpoint(run))
  const token = endpoint.kind === 'tcp' ? (options.token ?? (await readToken(run))) : undefined
  const dispatch = socketDispatch({ endpoint, ...(token !== undefined && { token }) })
  if (await requestHello(dispatch, [], signal)) return createClient(dispatch)
  const { overFixedDaemon } = await import('../core/protocol/fixed-daemon.ts')
  return createClient(
    overFixedDaemon(dispatch, { at: formatEndpoint(endpoint), defaultAgent: DEFAULT_AGENT }),
  )
}

async function findEndpoint(run: string): Promise<SocketEndpoint> {
  const uid = process.getuid?.() ?? 0
  const address = daemonSocketEndpoint({
    run,
    env: process.env,
    platform: process.platform,
    uid,
    tmpDir: tmpdir(),
  })
  const endpoint = await readAddressFile(address)
  if (endpoint) return endpoint
  throw new CrabError('unavailable', `Cannot reach a daemon: no daemon has announced itself in ${run}`, {
    hint: 'start one with crabtalk daemon run',
  })
}
