import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CrabError } from '../../../src/core/base/errors.ts'
import type { Dispatch } from '../../../src/core/protocol/dispatch.ts'
import type { Gatekeeper } from '../../../src/core/transport/admission.ts'
import { socketDispatch } from '../../../src/core/transport/client.ts'
import type { SocketEndpoint } from '../../../src/core/transport/endpoint.ts'
import { type Listener, type ListenOptions, listen } from '../../../src/core/transport/listen.ts'
import { isSameToken } from '../../../src/core/transport/token.ts'
import { RawClient } from './raw-client.ts'

export type EndpointKind = SocketEndpoint['kind']

/** A listener of a test in a temporary directory, with functions for its clients. */
export interface Serving extends AsyncDisposable {
  listener: Listener
  endpoint: SocketEndpoint
  /** Connects like this product's own client. */
  dispatch: Dispatch
  /** Everything the listener reported. */
  errors: CrabError[]
  /** The reasons why clients were refused. */
  refused: string[]
  /** Revokes the token for this reason. */
  revoke(reason: CrabError): void
  /** Connects a client whose bytes are controlled by the test. */
  open(): Promise<RawClient>
}

/** Serves a dispatch on a fresh Unix socket, a free TCP port, or a pipe (which is a Unix socket here). */
export async function serve(
  kind: EndpointKind,
  dispatch: Dispatch,
  { token, ...options }: Partial<ListenOptions> & { token?: string } = {},
): Promise<Serving> {
  const errors: CrabError[] = []
  const refused: string[] = []
  const valid = new AbortController()
  const gatekeeper: Gatekeeper = {
    async admit(shown) {
      const isRight = !valid.signal.aborted && isSameToken(shown, token ?? '')
      return isRight ? { dispatch, ended: valid.signal } : undefined
    },
    refused: (_, why) => refused.push(why),
  }
  const directory = await mkdtempDisposable(join(tmpdir(), 'crab-net-'))
  const listener = await listen(freshEndpoint(kind, directory.path), {
    dispatch,
    graceMs: 0,
    onError: (error) => errors.push(error),
    ...(token !== undefined && { gatekeeper }),
    ...options,
  })
  const { endpoint } = listener
  return {
    listener,
    endpoint,
    errors,
    refused,
    revoke: (reason) => valid.abort(reason),
    dispatch: socketDispatch({ endpoint, ...(token !== undefined && { token }) }),
    open: () => RawClient.open(endpoint),
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]()
      await directory[Symbol.asyncDispose]()
    },
  }
}

/** Returns an unused endpoint in that folder. */
export function freshEndpoint(kind: EndpointKind, folder: string): SocketEndpoint {
  if (kind === 'tcp') return { kind, host: '127.0.0.1', port: 0 }
  return { kind, path: kind === 'unix' ? join(folder, 'run', 'crabtalk.sock') : join(folder, 'pipe') }
}
