import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTree } from '../support/trees.ts'

const MAIN = join(import.meta.dirname, '../../bench/main.ts')

test('bench reports a missing binary, and an unknown suite or program', async () => {
  await using tree = await makeTree({ crabtalk: '' })
  const cases: [args: string[], said: RegExp][] = [
    [
      ['--binary', '/nowhere/crabtalk'],
      /^Cannot measure: there is no \/nowhere\/crabtalk: npm run build makes one\n$/,
    ],
    [
      ['speed'],
      /^Cannot measure: there is no suite speed: startup, one-shot, streaming, tui, daemon, daemon-home, daemon-crowd, mcp-connect, mcp-calls, mcp-crowd, search, search-daemon, memory, relevance\n$/,
    ],
    [
      ['--binary', tree.path('crabtalk'), '--peers', '/nowhere'],
      /^Cannot measure: .* compare with in \/nowhere\n$/,
    ],
  ]
  for (const [args, said] of cases) {
    const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' })
    assert.match(stderr, said)
    assert.deepEqual([status, stdout], [1, ''])
  }
})
