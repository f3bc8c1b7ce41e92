import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { goThrough, type Row, toMatrix } from '../support/mcp/matrix.ts'
import { startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import { stdioServers } from '../support/mcp/real-servers.ts'
import { callOnce } from '../support/one-call.ts'
import { endLiving, leftAfter } from '../support/orphans.ts'
import { GRACE_MS } from '../support/processes.ts'

test('servers that people use over stdio connect, answer, fail, are cancelled, killed, reconnected, and leave nothing', async (t) => {
  const mark = `crab-${randomUUID()}`
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-real-'))
  const servers = await stdioServers(folder.path, mark)
  const entries = servers.map(({ entry }) => entry)
  const solo = servers.filter(({ progress }) => progress).map(({ entry }) => entry)
  const script = callOnce(servers.flatMap(({ progress }) => progress?.args ?? [])[0]!)
  await using node = await startMcpDaemon({ crab: entries, solo }, { script })
  node.follow()
  const rows: Record<string, Row> = Object.fromEntries(entries.map(({ name }) => [name, {}]))
  try {
    await t.test('each', { concurrency: 3 }, async (t) => {
      await Promise.all(
        servers.map((server) =>
          t.test(server.entry.name, async () => {
            rows[server.entry.name] = await goThrough(node, server)
          }),
        ),
      )
    })
    node.daemon.kill('SIGKILL')
    const left = await leftAfter(mark, GRACE_MS)
    for (const row of Object.values(rows)) row['host exit'] = `${left.length} left after SIGKILL`
    for (const line of toMatrix(rows)) t.diagnostic(line)
    assert.deepEqual(left, [])
  } finally {
    await endLiving(mark)
  }
})
