import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { misbehavingEntry, type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning, type RecordFolder, recordFolder } from '../support/mcp/record-folder.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { until } from '../support/until.ts'

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} while mcp add tries a server leaves the agent's file unchanged, and no process`, async () => {
    await using records = await recordFolder()
    await using box = await makeSandbox()
    const server = await hangingServer(box, records)
    const text = await agentText(box)
    const { child, finished } = box.start([
      'mcp',
      'add',
      'two',
      '--',
      server.entry.command,
      ...server.entry.args,
    ])
    await until('the list is asked for', () => server.messages('tools/list').length > 0)
    process.kill(child.pid!, signal)
    const { code, stdout } = await finished
    assert.ok(code > 128, String(code))
    assert.equal(stdout, '')
    await until('the server has ended', () => !server.starts().some(isRunning))
    assert.equal(await agentText(box), text)
    assert.equal((await box.run(['mcp', 'remove', 'one'])).stdout, 'removed one\n') // the file is not locked
  })
}

test('SIGKILL while mcp set tries a server leaves the file unchanged', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = await hangingServer(box, records)
  const text = await agentText(box)
  const words = [`command=${server.entry.command}`, `args=${JSON.stringify(server.entry.args)}`]
  const { child, finished } = box.start(['mcp', 'set', 'one', ...words])
  await until('the list is asked for', () => server.messages('tools/list').length > 0)
  process.kill(child.pid!, 'SIGKILL')
  await finished
  await until('the server has ended', () => !server.starts().some(isRunning))
  assert.equal(await agentText(box), text)
})

test('a server that ignores everything is gone after mcp add, ping, tools and call', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const ignore = ['eof', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const server = watchedServer(records.path, { ignore }, { isPlain: true })
  const { command, args } = server.entry
  const added = await box.run(['mcp', 'add', 'one', '--', command, ...args])
  assert.deepEqual([added.stderr, added.code, server.starts().length], ['', 0, 1])
  const uses = [
    ['ping', 'one'],
    ['tools', 'one'],
    ['call', 'one', 'echo', 'text=x'],
  ]
  const runs = await Promise.all(uses.map((words) => box.run(['mcp', ...words])))
  for (const { stderr, code } of runs) assert.deepEqual([stderr, code], ['', 0])
  assert.equal(server.starts().length, 4)
  await until('all have ended', () => !server.starts().some(isRunning))
})

/** Writes an agent with one server, and returns another that never answers. */
async function hangingServer(box: Sandbox, records: RecordFolder): Promise<WatchedServer> {
  const { command, args } = misbehavingEntry({ tools: ['few'] })
  const added = await box.run(['mcp', 'add', 'one', '--', command, ...args])
  assert.equal(added.code, 0, added.stderr)
  return watchedServer(records.path, { at: { 'tools/list': 'hang' } })
}

function agentText(box: Sandbox): Promise<string> {
  return readFile(join(box.home, 'agents/crab.toml'), 'utf8')
}
