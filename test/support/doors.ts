import { join } from 'node:path'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import { type Dispatch, route } from '../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../src/core/transport/client.ts'
import { listen } from '../../src/core/transport/listen.ts'
import { readOrCreateToken } from '../../src/core/transport/token.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { Script } from './model-server.ts'
import { startTestDispatch, type TestDispatch } from './test-dispatch.ts'

/** The ways to a node. */
export const DOORS = ['in process', 'over a Unix socket', 'over TCP'] as const
export type Door = (typeof DOORS)[number]

/** A node behind one of its doors: `dispatch` is what a client of that kind has. */
export interface Behind extends Omit<TestDispatch, 'ask'> {
  readonly door: Door
}

/** Starts a node and goes to it by that door; over TCP a client is a stranger (decision 29). */
export async function startBehind(
  door: Door,
  script: Script,
  options?: Parameters<typeof startTestDispatch>[1],
): Promise<Behind> {
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
  door: Door,
  { dispatch, services, home }: TestDispatch,
): Promise<{ dispatch: Dispatch; close(): Promise<void> }> {
  if (door === 'in process') return { dispatch, close: async () => {} }
  const { run } = home.paths
  const isTcp = door === 'over TCP'
  const token = isTcp ? await readOrCreateToken(run) : undefined
  const shown = token === undefined ? {} : { token }
  const endpoint = isTcp
    ? ({ kind: 'tcp', host: '127.0.0.1', port: 0 } as const)
    : ({ kind: 'unix', path: join(run, 'crabtalk.sock') } as const)
  const listener = await listen(endpoint, {
    dispatch: route(handlers(services, isTcp ? TCP_CLIENT : 'local')),
    graceMs: 100,
    onError(error) {
      throw error
    },
    ...shown,
  })
  return {
    dispatch: socketDispatch({ endpoint: listener.endpoint, ...shown }),
    close: async () => await listener[Symbol.asyncDispose](),
  }
}
