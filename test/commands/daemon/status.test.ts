import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { DaemonStats, HelloInfo } from '../../../src/core/protocol/crabtalk.generated.ts'
import { requestMany, route } from '../../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../../src/core/transport/client.ts'
import { listen } from '../../../src/core/transport/listen.ts'
import { DAEMON_LEASE } from '../../../src/daemon/serve/home-lease.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'
import { makeTestHost } from '../../support/test-host.ts'
import { until } from '../../support/until.ts'

test('daemon status counts the clients of a daemon without itself, however long the answer takes', async () => {
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
  const followed = Array.fromAsync(following).catch(() => undefined) // disconnects it
  await until('a client is there', () => listener.connections === 1)
  const { code, stdout } = await readStatus(home, '--json')
  assert.deepEqual([code, JSON.parse(stdout).clients], [0, 1])
  leave.abort()
  await followed
})

test('daemon status shows a daemon that owns the home and does not answer as starting or ending', async () => {
  await using home = await temporaryHome()
  const { home: path, leases: database, proc } = home.paths
  assert.equal((await readStatus(home)).stdout, `no daemon is running for ${path}\n`)
  assert.ok(!existsSync(path))
  await using leases = new SqliteLeases({ database, proc, pid: 4711 })
  await using _lease = await leases.take(DAEMON_LEASE, AbortSignal.timeout(5000))
  const text = `the daemon of ${path} is starting or ending, or its socket was removed (pid 4711)\n`
  assert.deepEqual(await readStatus(home), { code: 3, stdout: text })
  const { code, stdout } = await readStatus(home, '--json')
  assert.deepEqual([code, JSON.parse(stdout)], [3, { running: false, home: path, pid: 4711 }])
})

async function readStatus({ paths }: TemporaryHome, ...options: string[]) {
  await using at = await makeTestHost({ env: { CRABTALK_HOME: paths.home } })
  const code = await main('crabtalk', ['daemon', 'status', ...options], at.host)
  await at.host.stdout.flush()
  return { code, stdout: at.stdout() }
}
