import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { McpEntry } from '../../src/core/config/mcp-entry.ts'
import { checkServer, toMatrix } from '../support/mcp/matrix.ts'
import { startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import { type RealServer, stdioServers } from '../support/mcp/real-servers.ts'
import { callOnce } from '../support/one-call.ts'
import { endLiving, leftAfter } from '../support/orphans.ts'
import { GRACE_MS } from '../support/processes.ts'

/** Small groups, because each server has a minute even on a busy machine. */
const TRIOS = [
  ['everything', 'fs', 'memory'],
  ['npx', 'thinking', 'eslint'],
]

for (const names of TRIOS) {
  test(`${names.join(', ')} over stdio connect, answer, fail, are cancelled, killed, reconnected, and leave nothing`, async (t) => {
    const mark = `crab-${randomUUID()}`
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-real-'))
    const all = await stdioServers(folder.path, mark)
    const servers = all.filter(({ entry }) => names.includes(entry.name))
    const solo = servers.filter(({ progress }) => progress)
    const script = callOnce(solo[0]?.progress?.args ?? {})
    await using node = await startMcpDaemon(
      { crab: servers.map(toEntry), solo: solo.map(toEntry) },
      { script },
    )
    node.follow()
    try {
      const outcomes = await Promise.all(servers.map((server) => checkServer(node, server)))
      node.daemon.kill('SIGKILL')
      const left = await leftAfter(mark, GRACE_MS)
      assert.deepEqual(left, [])
      const rows = outcomes.map((row) => ({ ...row, 'host exit': '0 left after SIGKILL' }))
      for (const line of toMatrix(names, rows)) t.diagnostic(line)
    } finally {
      await endLiving(mark)
    }
  })
}

function toEntry({ entry }: RealServer): McpEntry {
  return entry
}
