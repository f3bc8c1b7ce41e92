import { homedir, tmpdir } from 'node:os'
import { CrabError } from '../core/base/errors.ts'
import { homePaths } from '../core/config/paths.ts'
import { request } from '../core/protocol/dispatch.ts'
import { readAddress } from '../core/transport/address-file.ts'
import { socketDispatch } from '../core/transport/client.ts'
import type { Endpoint } from '../core/transport/endpoint.ts'
import { localEndpoint } from '../core/transport/local-endpoint.ts'
import { readToken } from '../core/transport/token.ts'
import { type Client, clientOf } from './agents-client.ts'

/** Which daemon. */
export interface ConnectOptions {
  /** Its home directory; by default $CRABTALK_HOME, else ~/.crabtalk. */
  home?: string
  /** Instead of the home's own socket, such as `{ kind: 'tcp', host: '127.0.0.1', port: 6688 }`. */
  endpoint?: Endpoint
  /** For TCP; by default that of the home. */
  token?: string
  signal?: AbortSignal
}

/**
 * A client of the daemon of a home. Every request has a connection of its own, so there is nothing to close.
 *
 * Throws `unavailable` when no daemon runs there, `denied` for a wrong token.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { home, signal = new AbortController().signal } = options
  const env = home === undefined ? process.env : { ...process.env, CRABTALK_HOME: home }
  const { run } = homePaths(env, { cwd: process.cwd(), homeDir: homedir() })
  const endpoint = options.endpoint ?? (await findEndpoint(run))
  const token = endpoint.kind === 'tcp' ? (options.token ?? (await readToken(run))) : undefined
  const dispatch = socketDispatch({ endpoint, ...(token !== undefined && { token }) })
  await request(dispatch, 'ping', {}, signal)
  return clientOf(dispatch)
}

async function findEndpoint(run: string): Promise<Endpoint> {
  const uid = process.getuid?.() ?? 0
  const place = localEndpoint({ run, env: process.env, platform: process.platform, uid, tmpDir: tmpdir() })
  const endpoint = await readAddress(place)
  if (endpoint) return endpoint
  throw new CrabError('unavailable', `Cannot reach a daemon: none has said where it is in ${run}`, {
    hint: 'start one: crabtalk daemon run',
  })
}
