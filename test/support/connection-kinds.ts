import { join } from 'node:path'
import type { TcpClient } from '../../src/core/policy/trust.ts'
import { type Dispatch, route } from '../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../src/core/transport/client.ts'
import { listen } from '../../src/core/transport/listen.ts'
import { readOrCreateToken } from '../../src/core/transport/token.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { tcpGatekeeper } from '../../src/daemon/tcp/gatekeeper.ts'
import { RefusalLog } from '../../src/daemon/tcp/refusal-log.ts'
import { TokenBook } from '../../src/daemon/tcp/token-book.ts'
import type { Script } from './model-server.ts'
import { startTestDispatch, type TestDispatch } from './test-dispatch.ts'

/** The kinds of connections to a node. */
export const CONNECTION_KINDS = ['in process', 'over a Unix socket', 'over TCP'] as const
export type ConnectionKind = (typeof CONNECTION_KINDS)[number]

/** A node and one connection to it: `dispatch` is the one that a client of that kind has. */
export interface ConnectedNode extends Omit<TestDispatch, 'ask'> {
  readonly door: ConnectionKind
}

/** Starts a node and connects to it in that way; a TCP client is untrusted (ADR 0145). */
export async function startConnectedNode(
  door: ConnectionKind,
  script: Script,
  options?: Parameters<typeof startTestDispatch>[1],
): Promise<ConnectedNode> {
  const node = await startTestDispatch(script, options)
  const opened = await open(door, node)
  return {
    ...node,
    door,
    dispatch: opened.dispatch,
    async [Symbol.asyncDispose]() {
      await opened.close()
      await node[Symbol.asyncDispose]()
    },
  }
}

async function open(
  door: ConnectionKind,
  { dispatch, services, home }: TestDispatch,
): Promise<{ dispatch: Dispatch; close(): Promise<void> }> {
  if (door === 'in process') return { dispatch, close: async () => {} }
  const { run } = home.paths
  const isTcp = door === 'over TCP'
  const endpoint = isTcp
    ? ({ kind: 'tcp', host: '127.0.0.1', port: 0 } as const)
    : ({ kind: 'unix', path: join(run, 'crabtalk.sock') } as const)
  const local = route(handlers(services, 'local'))
  const own = isTcp ? await openTcpGatekeeper(services) : undefined
  const listener = await listen(endpoint, {
    dispatch: local,
    graceMs: 100,
    onError(error) {
      throw error
    },
    ...(own && { gatekeeper: own.gatekeeper }),
  })
  const { endpoint: at } = listener
  return {
    dispatch: socketDispatch({ endpoint: at, ...(own && { token: own.token }) }),
    async close() {
      await listener[Symbol.asyncDispose]()
      await own?.book[Symbol.asyncDispose]()
    },
  }
}

/** Admits clients like a daemon does, with the token of the home. */
async function openTcpGatekeeper(services: TestDispatch['services']) {
  const { paths, log } = services.node
  const { token } = await readOrCreateToken(paths.run)
  const lock = (resource: string, signal: AbortSignal) => services.stores.leases.take(resource, signal)
  const book = new TokenBook({ run: paths.run, lock, log, now: Date.now })
  const serve = (client: TcpClient) => route(handlers(services, client))
  return {
    token,
    book,
    gatekeeper: tcpGatekeeper({
      book,
      refusals: new RefusalLog(log),
      serve,
      serveFixed: serve,
    }),
  }
}
