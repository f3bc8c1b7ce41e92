import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSavings, joinAgents } from '../../../src/commands/mcp/ps.ts'
import { formatAge, formatMegabytes, groupDigits } from '../../../src/core/base/format.ts'
import { McpPeer } from '../../../src/core/protocol/crabtalk.generated.ts'

function peer(agents: readonly string[], more: Partial<McpPeer> = {}): McpPeer {
  const owners = agents.map((agent) => ({ agent, name: 'fs' }))
  return McpPeer.create({ pid: 7, memoryBytes: 62_000_000, owners, ...more })
}

/** Connections, and the expected text about sharing. */
const SHARING: [McpPeer[], string | undefined][] = [
  [[], undefined],
  [[peer(['a'], { pid: undefined })], undefined],
  [[peer(['a', 'b', 'c'])], '3 agents use 1 process: 2 processes and about 124 MB saved'],
  [[peer(['a', 'b']), peer(['a'])], '2 agents use 2 processes: 1 process and about 62 MB saved'],
  [[peer(['a', 'a'])], '1 agent uses 1 process; none is shared'],
  [[peer(['a']), peer(['b'])], '2 agents use 2 processes; none is shared'],
  [[peer(['(discovery)', 'a'])], '1 agent uses 1 process; none is shared'],
  [[peer(['(discovery)'])], undefined],
  [[peer(['a', 'b'], { memoryBytes: undefined })], '2 agents use 1 process: 1 process saved'],
]

for (const [peers, words] of SHARING) {
  test(`describeSavings() returns ${words}`, () => assert.equal(describeSavings(peers), words))
}

test('joinAgents() names a few agents, and counts many', () => {
  assert.equal(joinAgents(peer(['a', 'b', '(discovery)']).owners), 'a, b')
  assert.equal(joinAgents(peer(Array.from({ length: 30 }, (_, i) => `agent${i}`)).owners), '30 agents')
  assert.equal(
    joinAgents(peer(['an-agent-with-quite-a-long-name']).owners),
    'an-agent-with-quite-a-long-name',
  )
  assert.equal(joinAgents(peer([]).owners), '-')
  const owners = ['/a/.mcp.json', '/b/.crabtalk/mcp.toml'].map((file) => ({
    agent: 'crab',
    name: 'fs',
    file,
  }))
  assert.equal(joinAgents(owners), 'crab in /a, /b')
})

test('numbers are formatted for people', () => {
  const ages = [4, 60, 7_200, 200_000].map((seconds) =>
    formatAge('2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1) + seconds * 1000),
  )
  assert.deepEqual([...ages, formatAge('', 0)], ['4s', '1m', '2h', '2d', '-'])
  assert.deepEqual(
    [formatMegabytes(83_800_064), formatMegabytes(undefined), groupDigits(12_345)],
    ['84 MB', '-', '12,345'],
  )
})
