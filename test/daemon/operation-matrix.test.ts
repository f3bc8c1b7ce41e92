import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Access, CLIENTS, type ClientKind } from '../../scripts/docs/permissions.ts'
import { ClientMessage, type ServerMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, wireName } from '../../src/core/protocol/dispatch.ts'
import type { Operation } from '../../src/core/protocol/operations.ts'
import type { SocketEndpoint } from '../../src/core/transport/endpoint.ts'
import { readToken } from '../../src/core/transport/token.ts'
import { daemonEndpoint } from '../../src/daemon/find-daemon.ts'
import { CALLERS } from '../../src/daemon/handlers/callers.ts'
import { RawClient } from '../core/transport/raw-client.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { makeModelHome } from '../support/daemon-home.ts'
import {
  isServed,
  mayStaySilent,
  type Probe,
  type ProbeReply,
  preparePair,
  probeScript,
} from '../support/operation-probe.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

/** The operations in the order in which they are tried: the last one stops the daemon. */
const OPERATIONS = [
  ...(Object.keys(CALLERS) as Operation[]).filter((name) => name !== 'shutdown'),
  'shutdown',
] as const

/**
 * Trusted senders, then untrusted ones: the first of each pair has a conversation, the second waits for an
 * answer.
 */
const OWNED_HERE = ['sh:1', 'sh:2'] as const
const UNTRUSTED = ['tg:1', 'tg:2'] as const

for (const client of CLIENTS.filter((one) => one !== 'in process')) {
  test(`operations of a client "${client}" behave as docs/permissions.md says`, async () => {
    await using home = await makeModelHome(probeScript)
    await using daemon = await startTestDaemon(home, { args: ['--port', '0'] })
    const place = { paths: home.paths, env: {}, uid: process.getuid!() }
    const port = Number(await home.read('run/crabtalk.port'))
    const tcp = { kind: 'tcp', host: '127.0.0.1', port } as const
    const endpoint = client.startsWith('TCP') ? tcp : daemonEndpoint(place).endpoint
    const token = client === 'TCP, token' ? await readToken(home.paths.run) : undefined
    const isNew = client !== 'socket, without hello' && client !== 'TCP, no token'
    await checkMatrix(client, daemon.dispatch, rawProbe(endpoint, { token, isNew }))
  })
}

test('operations of a client "in process" behave as docs/permissions.md says', async () => {
  await using node = await startTestDispatch(probeScript)
  const probe: Probe = async (msg) => {
    const stop = new AbortController()
    const message = ClientMessage.create({ requestId: 1, msg })
    const replies = node.dispatch(message, stop.signal)[Symbol.asyncIterator]()
    const first = replies.next()
    first.catch(() => undefined)
    if (mayStaySilent(msg)) await pingTwice(node.dispatch)
    const settled = await Promise.race([
      first,
      mayStaySilent(msg) ? Promise.resolve('silent' as const) : first,
    ])
    stop.abort()
    return settled === 'silent' || settled.done ? undefined : toReply(settled.value)
  }
  await checkMatrix('in process', node.dispatch, probe)
})

async function checkMatrix(client: ClientKind, dispatch: Dispatch, probe: Probe): Promise<void> {
  const [here, untrusted] = [await preparePair(dispatch, OWNED_HERE), await preparePair(dispatch, UNTRUSTED)]
  const seen: Record<string, Access> = {}
  for (const operation of OPERATIONS) {
    const own = await isServed(operation, untrusted, probe)
    const all = operation === 'shutdown' ? own : await isServed(operation, here, probe)
    seen[wireName(operation)] = all ? 'yes' : own ? 'own' : 'no'
  }
  assert.deepEqual(seen, await documented(client))
}

/** Returns a column of the table in the page. */
async function documented(client: ClientKind): Promise<Record<string, string>> {
  const page = await readFile(join(import.meta.dirname, '../../docs/permissions.md'), 'utf8')
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
  const head = rows.find(([first]) => first === 'operations')!
  const table = rows.filter((row) => row.length === head.length && row !== head)
  return Object.fromEntries(
    OPERATIONS.map((operation) => {
      const row = table.find(([names]) => names!.split(', ').includes(`\`${wireName(operation)}\``))
      return [wireName(operation), row?.[head.indexOf(client)] ?? 'not documented']
    }),
  )
}

/** Sends each operation on its own connection, after the messages that a client of that kind sends first. */
function rawProbe(
  endpoint: SocketEndpoint,
  { token, isNew }: { token: string | undefined; isNew: boolean },
): Probe {
  return async (msg) => {
    using connection = await RawClient.open(endpoint)
    if (token !== undefined) connection.send(1, { $case: 'auth', value: { token } })
    if (isNew) connection.send(2, { $case: 'hello', value: { versions: [1] } })
    connection.send(3, msg.$case === 'auth' ? { $case: 'auth', value: { token: token ?? '' } } : msg)
    const isSilent = mayStaySilent(msg)
    if (isSilent) connection.send(4, { $case: 'ping', value: {} })
    for (let pings = 0; ; ) {
      const reply = await connection.reply()
      if (reply === undefined) return { code: 403, text: 'the connection was closed' }
      if (reply.requestId === 3) return toReply(reply)
      if (reply.requestId === 4 && ++pings === 2) return undefined
      if (reply.requestId === 4) connection.send(4, { $case: 'ping', value: {} })
    }
  }
}

async function pingTwice(dispatch: Dispatch): Promise<void> {
  const ping = ClientMessage.create({ msg: { $case: 'ping', value: {} } })
  for (const _ of [1, 2]) await Array.fromAsync(dispatch(ping, new AbortController().signal))
}

function toReply({ msg }: ServerMessage): ProbeReply {
  if (msg?.$case === 'error') return { code: msg.value.code, text: msg.value.message }
  return { code: 0, text: JSON.stringify(msg?.value ?? {}) }
}
