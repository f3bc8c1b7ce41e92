import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTree, type Tree } from '../support/trees.ts'
import { until } from '../support/until.ts'

const RUNNER = join(import.meta.dirname, '../../scripts/conformance.ts')
/** A client that never sends a message. */
const MUTE = `"${process.execPath}" --version`

test('conformance passes, scenario by scenario, with our client', async () => {
  await using tree = await makeTree({ 'tmp/': '' })
  const { code, lines } = await run(tree, 'tools_call')
  assert.equal(code, 0)
  assert.match(lines[1]!, /^tools_call +2025-11-25 +passed, 2 checks$/)
  assert.match(lines[2]!, /^tools_call +2026-07-28 +passed, 2 checks$/)
  assert.equal(lines.at(-1), 'conformance: 2025-11-25 1/1, 2026-07-28 1/1')
})

test('conformance fails with a failing scenario, and prints the output of the suite', async () => {
  await using tree = await makeTree({ 'tmp/': '', 'none.toml': '' })
  const { code, lines } = await run(
    tree,
    'tools_call',
    '--client',
    MUTE,
    '--baseline',
    tree.path('none.toml'),
  )
  assert.equal(code, 1)
  assert.match(lines[1]!, /^tools_call +2025-11-25 +failed, 1 of its checks$/)
  assert.match(lines.join('\n'), /\ntools_call \(2026-07-28\):\n {2}ToolAddNumbers: /)
  assert.equal(lines.at(-1), 'conformance: 2025-11-25 0/1, 2026-07-28 0/1')
})

test('conformance accepts a failing scenario only with a reason in the baseline', async () => {
  await using tree = await makeTree({ 'tmp/': '', 'one.toml': '["2026-07-28"]\ntools_call = "it is mute"' })
  const { code, lines } = await run(tree, 'tools_call', '--client', MUTE, '--baseline', tree.path('one.toml'))
  assert.equal(code, 1)
  assert.match(lines[1]!, /^tools_call +2025-11-25 +failed, 1 of its checks$/)
  assert.match(lines[2]!, /^tools_call +2026-07-28 +failed, as expected: it is mute$/)
  assert.doesNotMatch(lines.join('\n'), /\ntools_call \(2026-07-28\)/)
  const only = await run(tree, 'request-metadata', '--client', MUTE, '--baseline', tree.path('one.toml'))
  assert.equal(only.code, 1)
})

test('conformance fails with a passing scenario that the baseline lists', async () => {
  await using tree = await makeTree({ 'tmp/': '', 'old.toml': '["2025-11-25"]\ntools_call = "it was mute"' })
  const { code, lines } = await run(tree, 'tools_call', '--baseline', tree.path('old.toml'))
  assert.equal(code, 1)
  assert.match(lines[1]!, /^tools_call +2025-11-25 +passed, but is listed as failing$/)
  assert.match(lines.join('\n'), /\ntools_call \(2025-11-25\) passes: take it off the list/)
})

test('conformance rejects an unknown scenario, wherever it is named', async () => {
  await using tree = await makeTree({ 'tmp/': '', 'odd.toml': '["2025-11-25"]\nflying = "it cannot"' })
  const listed = await run(tree, '--baseline', tree.path('odd.toml'))
  assert.match(listed.stderr, /odd\.toml lists flying, which 2025-11-25 does not demand\n$/)
  const result = await run(tree, 'flying')
  assert.match(result.stderr, /no revision demands the scenario flying\n$/)
  assert.deepEqual([listed.code, result.code], [1, 1])
})

test('conformance leaves no file and no process, whatever a client has started', async () => {
  await using tree = await makeTree({ 'tmp/': '', 'none.toml': '', 'client.cjs': LEAVING })
  const client = `"${process.execPath}" "${tree.path('client.cjs')}" "${tree.path('pids')}"`
  await run(tree, 'request-metadata', '--client', client, '--baseline', tree.path('none.toml'))
  const pid = Number(await readFile(tree.path('pids'), 'utf8'))
  await until('the program is gone', () => !isThere(pid))
  assert.deepEqual(await readdir(tree.path('tmp')), [])
})

/** Starts a program that keeps running, writes its pid and exits. */
const LEAVING = `
const { spawn } = require('node:child_process')
const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore', detached: true })
require('node:fs').writeFileSync(process.argv[2], String(pid))
process.exit(0)
`

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function run(tree: Tree, ...args: string[]): Promise<{ code: number; lines: string[]; stderr: string }> {
  const env = { ...process.env, TMPDIR: tree.path('tmp') }
  return new Promise((resolve) => {
    execFile(process.execPath, [RUNNER, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, lines: stdout.trimEnd().split('\n'), stderr }),
    )
  })
}
