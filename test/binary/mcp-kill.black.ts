import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { misbehavingEntry, type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { until } from '../support/until.ts'

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} while mcp add tries a server leaves the agent's file as it was, and no process`, async () => {
    await using box = await makeSandbox()
    const server = await hangingServer(box)
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
    await until('nothing is left', async () => (await box.processesLeft()).length === 0)
    assert.equal(await agentText(box), text)
    assert.equal((await box.run(['mcp', 'remove', 'one'])).stdout, 'removed one\n') // nothing is locked
  })
}

test('SIGKILL while mcp set tries a server leaves the file as it was', async () => {
  await using box = await makeSandbox()
  const server = await hangingServer(box)
  const text = await agentText(box)
  const words = [`command=${server.entry.command}`, `args=${JSON.stringify(server.entry.args)}`]
  const { child, finished } = box.start(['mcp', 'set', 'one', ...words])
  await until('the list is asked for', () => server.messages('tools/list').length > 0)
  process.kill(child.pid!, 'SIGKILL')
  await finished
  await until('nothing is left', async () => (await box.processesLeft()).length === 0)
  assert.equal(await agentText(box), text)
})

test('a server that ignores everything is gone after mcp ping, call, tools and add', async () => {
  await using box = await makeSandbox()
  const { command, args } = misbehavingEntry({
    ignore: ['eof', 'SIGTERM', 'SIGINT', 'SIGHUP'],
    tools: ['few'],
  })
  for (const words of [
    ['add', 'one', '--', command, ...args],
    ['ping', 'one'],
    ['tools', 'one'],
    ['call', 'one', 'echo', 'text=x'],
  ]) {
    const { stderr, code } = await box.run(['mcp', ...words])
    assert.deepEqual([stderr, code], ['', 0], words.join(' '))
    await until('nothing is left', async () => (await box.processesLeft()).length === 0)
  }
})

/** An agent with one server that is written down, and another that never answers. */
async function hangingServer(box: Sandbox): Promise<WatchedServer> {
  const { command, args } = misbehavingEntry({ tools: ['few'] })
  const added = await box.run(['mcp', 'add', 'one', '--', command, ...args])
  assert.equal(added.code, 0, added.stderr)
  return watchedServer(box.cwd, { at: { 'tools/list': 'hang' } })
}

function agentText(box: Sandbox): Promise<string> {
  return readFile(join(box.home, 'agents/crab.toml'), 'utf8')
}
