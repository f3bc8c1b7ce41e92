import assert from 'node:assert/strict'
import { mkdtempDisposable, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../until.ts'
import { CLIENTS, connectNew } from './clients.ts'
import { CONTENTS, fewTools, goodTools } from './good-tools.ts'
import { everythingEntry, filesystemEntry, misbehavingEntry, watchedServer } from './mcp-servers.ts'

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name} lists and calls tools of the good server`, async () => {
    await using client = await connect(misbehavingEntry({ name: 'good one' }))
    assert.equal(client.server()?.name, 'good one')
    const names = await client.tools()
    assert.deepEqual(
      names.slice(0, goodTools().length),
      goodTools().map((tool) => tool.name),
    )
    assert.deepEqual((await client.call('echo', { text: 'héllo' }))['content'], [
      { type: 'text', text: 'héllo' },
    ])
    assert.deepEqual((await client.call('add', { a: 2, b: 3 }))['content'], [{ type: 'text', text: '5' }])
    assert.equal((await client.call('fail'))['isError'], true)
    for (const [tool, content] of Object.entries(CONTENTS))
      assert.deepEqual((await client.call(tool))['content'], content)
  })

  test(`${name} gets structured content that the text repeats`, async () => {
    await using client = await connect(misbehavingEntry())
    const { content, structuredContent } = await client.call('structured')
    assert.deepEqual(structuredContent, { city: 'Zürich', degrees: 21.5 })
    assert.deepEqual(content, [{ type: 'text', text: JSON.stringify(structuredContent) }])
  })

  test(`${name} receives progress and can cancel`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
    const server = watchedServer(folder.path)
    await using client = await connect(server.entry)
    const controller = new AbortController()
    const call = client.call(
      'sleep',
      { ms: 60_000, steps: 6_000 },
      { signal: controller.signal, onProgress: () => controller.abort() },
    )
    await assert.rejects(call)
    await until('the server was told', () => server.messages('notifications/cancelled').length === 1)
    const id = server.messages('tools/call').at(-1)!.id
    assert.equal(server.messages('notifications/cancelled')[0]!.params!['requestId'], id)
    assert.deepEqual((await client.call('echo', { text: 'still here' }))['content'], [
      { type: 'text', text: 'still here' },
    ])
  })

  test(`${name} uses the official server with everything`, async () => {
    await using client = await connect(everythingEntry())
    assert.ok((await client.tools()).includes('get-sum'))
    const { content } = await client.call('get-sum', { a: 2, b: 40 })
    assert.match(JSON.stringify(content), /42/)
  })

  test(`${name} uses the official file server`, async () => {
    await using folder = await mkdtempDisposable(join(await realpath(tmpdir()), 'crab-mcp-'))
    const file = join(folder.path, 'a.txt')
    await writeFile(file, 'crabs walk sideways')
    await using client = await connect(filesystemEntry([folder.path]))
    const { content } = await client.call('read_text_file', { path: file })
    assert.match(JSON.stringify(content), /crabs walk sideways/)
    const outside = await client.call('read_text_file', { path: '/etc/hostname' })
    assert.equal(outside['isError'], true)
  })
}

test('the good server returns its environment, directory and process, behind a shell too', async () => {
  for (const wrapped of [false, true]) {
    await using folder = await mkdtempDisposable(join(await realpath(tmpdir()), 'crab-mcp-'))
    const server = watchedServer(folder.path, {}, { wrapped, env: { SHELL_COLOUR: 'red' }, cwd: folder.path })
    await using client = await connectNew(server.entry, 'legacy')
    const text = async (name: string) => textOf(await client.call(name))
    assert.equal(JSON.parse(await text('env')).SHELL_COLOUR, 'red')
    assert.equal(await text('cwd'), folder.path)
    assert.deepEqual(server.starts(), [Number(await text('pid'))])
  }
})

test('the record has every message with its arguments, in order', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const server = watchedServer(folder.path, { tools: ['few'] })
  assert.deepEqual([server.received(), server.starts()], [[], []])
  {
    await using client = await connectNew(server.entry, 'legacy')
    assert.deepEqual(
      await client.tools(),
      fewTools().map((tool) => tool.name),
    )
    await client.call('echo', {})
  }
  assert.deepEqual(
    server.messages().map(({ method }) => method),
    ['initialize', 'notifications/initialized', 'tools/list', 'tools/call'],
  )
  assert.deepEqual(server.messages('tools/call')[0]!.params, { name: 'echo', arguments: {} })
  assert.deepEqual(server.received().at(-1), { pid: server.starts()[0], event: 'eof' })
})

test('the modern server speaks only the revision without a handshake', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const server = watchedServer(folder.path, { era: 'modern', name: 'new one' })
  await using client = await connectNew(server.entry, { pin: '2026-07-28' })
  assert.equal(client.server()?.name, 'new one')
  assert.equal(textOf(await client.call('echo', { text: 'hi' })), 'hi')
  assert.deepEqual(server.messages('initialize'), [])
  await assert.rejects(connectNew(server.entry, 'legacy'), /Unsupported protocol version/)
})

test('a server of both eras is modern for clients that probe and old for others', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const server = watchedServer(folder.path, { era: 'both' })
  for (const mode of ['auto', 'legacy'] as const) {
    await using client = await connectNew(server.entry, mode)
    assert.equal(textOf(await client.call('echo', { text: mode })), mode)
    assert.equal(server.messages('initialize').length, mode === 'auto' ? 0 : 1)
  }
  assert.equal(server.starts().length, 3) // the probe is a process of its own
})

function textOf(result: Record<string, unknown>): string {
  return (result['content'] as { text: string }[])[0]!.text
}
