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
import { type Client, clientOf } from './agents-client.ts'

/** Which daemon. */
export interface ClientOptions {
  /** Its home directory; by default $CRABTALK_HOME, else ~/.crabtalk. */
  home?: string
  /** Instead of the home's own socket, such as `{ kind: 'tcp', host: '127.0.0.1', port: 6688 }`. */
  endpoint?: SocketEndpoint
  /** For TCP; by default that of the home. */
  token?: string
  signal?: AbortSignal
}

/**
 * A client of the daemon of a home. Every request has a connection of its own, so there is nothing to close.
 *
 * A daemon that knows no `hello` serves what the fixed protocol has, and everything else is refused with `unavailable`.
 *
 * Throws `unavailable` when no daemon runs there, `denied` for a wrong token.
 */
export async function connect(options: ClientOptions = {}): Promise<Client> {
  const { home, signal = new AbortController().signal } = options
  const env = home === undefined ? process.env : { ...process.env, CRABTALK_HOME: home }
  const { run } = homePaths(env, { cwd: process.cwd(), homeDir: userDirectory() })
  const endpoint = options.endpoint ?? (await findEndpoint(run))
  const token = endpoint.kind === 'tcp' ? (options.token ?? (await readToken(run))) : undefined
  const dispatch = socketDispatch({ endpoint, ...(token !== undefined && { token }) })
  if (await requestHello(dispatch, [], signal)) return clientOf(dispatch)
  const { overFixedDaemon } = await import('../core/protocol/fixed-daemon.ts')
  return clientOf(overFixedDaemon(dispatch, { at: formatEndpoint(endpoint), defaultAgent: DEFAULT_AGENT }))
}

async function findEndpoint(run: string): Promise<SocketEndpoint> {
  const uid = process.getuid?.() ?? 0
  const place = daemonSocketEndpoint({
    run,
    env: process.env,
    platform: process.platform,
    uid,
    tmpDir: tmpdir(),
  })
  const endpoint = await readAddressFile(place)
  if (endpoint) return endpoint
  throw new CrabError('unavailable', `Cannot reach a daemon: none has said where it is in ${run}`, {
    hint: 'start one: crabtalk daemon run',
  })
}
