import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { misbehavingEntry, type StdioEntry, watchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning, recordFolder } from '../support/mcp/record-folder.ts'
import { mcp, startServing, writeAgents } from '../support/mcp/watched-agents.ts'
import { livingWith } from '../support/orphans.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'
import { until } from '../support/until.ts'

const FEW = { tools: ['few'] } as const

test('the daemon keeps running the server that mcp add has verified', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await writeAgents(box, { crab: [], ann: [] })
  await using _daemon = await startServing(box, 0)
  const server = watchedServer(records.path, FEW)
  const added = await mcp(box, ['add', 'one', '--', ...line(server.entry)])
  assert.deepEqual([added.stdout, added.stderr, added.code], ['added one: 2 tools\n', '', 0])
  assert.equal((await mcp(box, ['call', 'one', 'echo', 'text=hi'])).stdout, 'hi\n')
  assert.equal((await mcp(box, ['add', '-a', 'ann', 'uno', '--', ...line(server.entry)])).code, 0)
  const [row, ...others] = await running(box)
  assert.deepEqual([row!.pid, row!.starts, others, server.starts()], [server.starts()[0], 1, [], [row!.pid]])
  assert.deepEqual(row!.owners, [
    { agent: 'crab', name: 'one' },
    { agent: 'ann', name: 'uno' },
  ])
})

test('server commands use the running daemon, even when they would choose other models', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one' })
  await writeAgents(box, { crab: [server.entry] })
  await using _daemon = await startServing(box, 1)
  const other = { env: { ANTHROPIC_API_KEY: 'sk-ant-of-this-shell' } }
  for (const words of [
    ['list'],
    ['ping', 'one'],
    ['tools', 'one'],
    ['call', 'one', 'echo', 'text=x'],
    ['health'],
    ['cost'],
  ]) {
    const { stderr, code } = await mcp(box, words, other)
    assert.deepEqual([stderr, code], ['', 0], words.join(' '))
  }
  assert.equal(
    (await mcp(box, ['add', '--no-verify', '--set', 'start=lazy', 'two', 'no-such'], other)).code,
    0,
  )
  const names = (await running(box)).flatMap(({ owners }) => owners.map(({ name }) => name))
  assert.deepEqual([names, server.starts().length], [['one', 'two'], 1])
})

test('a set that fails keeps the server, its file and its process; one that works replaces them', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one' })
  await writeAgents(box, { crab: [server.entry] })
  await using _daemon = await startServing(box, 1)
  const text = await agentText(box)
  const [pid] = server.starts()
  const args = JSON.stringify([...server.entry.args, '--at=initialize:crash'])
  for (const change of ['command=no-such-program', `args=${args}`]) {
    assertFailed(await mcp(box, ['set', 'one', change]), 'unavailable', {
      message: /"one"/,
      hint: /nothing was written/,
    })
  }
  assertFailed(await mcp(box, ['set', 'one', 'timeout_ms="soon"']), 'invalid', { message: /"timeout_ms"/ })
  assert.deepEqual([await agentText(box), isRunning(pid!)], [text, true])
  assert.deepEqual(
    (await running(box)).map((row) => row.pid),
    [pid],
  )
  await until('nothing else is left', async () =>
    (await livingWith(server.mark)).every((one) => one.pid === pid || one.carries === 'environment'),
  )
  const changed = await mcp(box, ['set', 'one', 'timeout_ms=5000'])
  assert.deepEqual([changed.stdout, (await running(box))[0]!.pid], ['changed one: 2 tools\n', pid])
  const before = server.starts().length
  assert.equal((await mcp(box, ['set', 'one', '-e', 'MODE=other'])).code, 0)
  await until('the old one has ended', () => !isRunning(pid!))
  const after = await running(box)
  assert.deepEqual(
    [after.map((row) => row.pid), server.starts().length],
    [[server.starts().at(-1)], before + 1],
  )
})

test('mcp remove and disable end the process with its last owner; mcp enable starts it again', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one' })
  await writeAgents(box, { crab: [server.entry], ann: [server.entry] })
  await using _daemon = await startServing(box, 1)
  const [pid] = server.starts()
  const removed = await mcp(box, ['remove', '-a', 'ann', 'one'])
  assert.deepEqual([removed.stdout, removed.code, isRunning(pid!)], ['removed one\n', 0, true])
  assert.equal((await mcp(box, ['disable', 'one'])).stdout, 'disabled one\n')
  await until('it has ended', async () => (await livingWith(server.mark)).length === 0)
  assert.deepEqual(await running(box), [])
  assert.equal((await mcp(box, ['enable', 'one'])).stdout, 'enabled one\n')
  await until('it runs again', () => server.starts().length === 2)
  await mcp(box, ['remove', 'one'])
  await until('it has ended', async () => (await livingWith(server.mark)).length === 0)
  assert.deepEqual([await running(box), entriesIn(await agentText(box))], [[], []])
})

test('concurrent changes of one agent by the daemon and other processes lose nothing, and one of two equal names wins', async () => {
  await using box = await makeSandbox()
  await writeAgents(box, { crab: [] })
  await using _daemon = await startServing(box, 0)
  const alone = { env: { CRABTALK_NO_DAEMON: '1' } }
  const add = (name: string, at: number) =>
    mcp(box, ['add', '--no-verify', '--set', 'start=lazy', name, 'no-such'], at % 2 ? alone : {})
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const different = await Promise.all(names.map(add))
  assert.deepEqual(
    different.map(({ stderr, code }) => [stderr, code]),
    names.map(() => ['', 0]),
  )
  assert.deepEqual(
    entriesIn(await agentText(box))
      .map(({ name }) => name)
      .toSorted(),
    names,
  )
  const same = await Promise.all([0, 1, 2, 3].map((at) => add('same', at)))
  assert.equal(same.filter(({ code }) => code === 0).length, 1)
  for (const refused of same.filter(({ code }) => code !== 0)) {
    assertFailed(refused, 'conflict', {
      message: /^Cannot add the server "same": a server with that name already exists$/,
      hint: /mcp set same/,
    })
  }
})

test('mcp add suggests a valid name, and describes valid names', async () => {
  await using box = await makeSandbox()
  const wrong = await box.run(['mcp', 'add', 'My Files!', 'server'])
  assertFailed(wrong, 'invalid', {
    message: /"My Files!": "name" must be 1 to 32 of a-z/,
    hint: /for example my-files$/,
  })
})

test("mcp add accepts the JSON snippet of a server's documentation", async () => {
  await using box = await makeSandbox()
  const { command, args } = misbehavingEntry(FEW)
  const json = JSON.stringify({ mcpServers: { theirs: { type: 'stdio', command, args, env: { A: 'x=y' } } } })
  const { stdout, stderr, code } = await box.run(['mcp', 'add', 'one', json])
  assert.deepEqual([stdout, stderr, code], ['added one: 2 tools\n', '', 0])
  assert.deepEqual(entriesIn(await agentText(box)), [{ name: 'one', command, args, env: { A: 'x=y' } }])
})

test('mcp add writes the headers and the token of a URL, and no listing shows them', async () => {
  await using box = await makeSandbox()
  const remote = [
    '--no-verify',
    '--header',
    'X-Key: s3cr3t-value',
    '--auth-env',
    'HERE',
    '--transport',
    'sse',
  ]
  const added = await box.run(['mcp', 'add', ...remote, 'far', 'https://example.invalid/sse'], {
    env: { HERE: 'h3r3-value' },
  })
  assert.deepEqual([added.stdout, added.stderr, added.code], ['added far\n', '', 0])
  assert.deepEqual(entriesIn(await agentText(box)), [
    {
      name: 'far',
      url: 'https://example.invalid/sse',
      headers: { 'X-Key': 's3cr3t-value' },
      auth: 'h3r3-value',
      transport: 'sse',
    },
  ])
  const shown = await box.run(['mcp', 'get', 'far'])
  assert.match(shown.stdout, /^transport = "sse"$/m)
  assert.doesNotMatch(shown.stdout, /s3cr3t|h3r3/)
})

interface Row {
  pid: number
  starts: number
  owners: { agent: string; name: string }[]
}

async function running(box: Sandbox): Promise<Row[]> {
  return JSON.parse((await mcp(box, ['ps', '--json'])).stdout)
}

function line({ command, args }: StdioEntry): string[] {
  return [command, ...args]
}

function agentText(box: Sandbox): Promise<string> {
  return readFile(join(box.home, 'agents/crab.toml'), 'utf8')
}

function entriesIn(text: string): Record<string, unknown>[] {
  const { mcps = [] } = JSON.parse(JSON.stringify(parse(text)))
  return mcps
}
