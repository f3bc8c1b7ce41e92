import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { DaemonStats, HelloInfo } from '../../../src/core/protocol/crabtalk.generated.ts'
import { requestMany, route } from '../../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../../src/core/transport/client.ts'
import { listen } from '../../../src/core/transport/listen.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { makeTestHost } from '../../support/test-host.ts'
import { until } from '../../support/until.ts'

test('daemon status counts the clients of a daemon without itself, however long that takes to say', async () => {
  await using home = await temporaryHome()
  const endpoint = { kind: 'unix', path: join(home.paths.run, 'crabtalk.sock') } as const
  const leave = new AbortController()
  const dispatch = route({
    hello: async () => HelloInfo.create({ version: 1, pid: 1 }),
    listActiveConversations: async () => ({ conversations: [] }),
    async getStats() {
      await until('nobody else asks', () => listener.connections === 2)
      return DaemonStats.create({ connections: listener.connections })
    },
    async *subscribeEvents(_, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  await using listener = await listen(endpoint, { dispatch, graceMs: 0, onError: () => undefined })
  const following = requestMany(socketDispatch({ endpoint }), 'subscribeEvents', {}, leave.signal)
  const followed = Array.fromAsync(following).catch(() => undefined) // it leaves
  await until('a client is there', () => listener.connections === 1)
  await using at = await makeTestHost({ env: { CRABTALK_HOME: home.paths.home } })
  assert.equal(await main('crabtalk', ['daemon', 'status', '--json'], at.host), 0)
  await at.host.stdout.flush()
  assert.equal(JSON.parse(at.stdout()).clients, 1)
  leave.abort()
  await followed
})
