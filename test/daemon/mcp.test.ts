import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpStatus, type UpsertMcpMsg } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import { entriesToml, misbehavingEntry, watchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning, recordFolder } from '../support/mcp/record-folder.ts'
import type { TestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const FEW = { tools: ['few'] } as const
/** Slow enough to be overtaken while it is verified. */
const SLOW = { ...FEW, delay: { 'tools/list': 2000 } } as const
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'

test('upsert_mcp writes a server once it has started, and reports how many tools it has', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, FEW, { name: 'one', env: { TOKEN: 'hunter2' } })
  await node.home.write('agents/crab.toml', `# Mine.\nid = "${ID}"\nmodel = "m" # good\n`)
  const info = await upsert(node, { ...server.entry, exclude: ['add'] }, { verify: true })
  assert.deepEqual(
    [info.name, info.toolCount, info.status, info.source, info.env],
    ['one', 1, McpStatus.DISCONNECTED, 'crab', { TOKEN: '[secret]' }],
  )
  assert.equal(server.starts().length, 1)
  const text = await node.home.read('agents/crab.toml')
  assert.ok(text.startsWith(`# Mine.\nid = "${ID}"\nmodel = "m" # good\n\n[[mcps]]\nname = "one"\n`), text)
  assert.match(text, /hunter2/)
})

test('upsert_mcp with verify leaves the file unchanged when the server does not start', async () => {
  await using node = await startMcpNode([])
  const text = `# Mine.\r\nid = "${ID}"\r\n${entriesToml(misbehavingEntry(FEW, { name: 'one' }))}`
  await node.home.write('agents/crab.toml', text)
  const broken = misbehavingEntry({ at: { start: 'crash' } }, { name: 'one' })
  await assert.rejects(upsert(node, broken, { verify: true }), {
    kind: 'unavailable',
    message: /"one".*cannot open the database/,
    hint: undefined, // a ping would start the one that is declared
  })
  await assert.rejects(upsert(node, { name: 'two', command: 'no-such-program' }, { verify: true }), {
    kind: 'unavailable',
    message: /no-such-program/,
  })
  assert.equal(await node.home.read('agents/crab.toml'), text)
})

test('upsert_mcp starts nothing without verify, or when the server is disabled', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, FEW)
  await upsert(node, server.entry)
  await upsert(node, { ...server.entry, disabled: true }, { verify: true })
  assert.deepEqual(server.starts(), [])
  assert.match(await node.home.read('agents/crab.toml'), /^disabled = true$/m)
})

test('upsert_mcp with create starts and writes nothing when the name, or one like it, is taken', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, FEW)
  await upsert(node, { name: 'my-db', command: 'x' })
  const text = await node.home.read('agents/crab.toml')
  for (const name of ['my-db', 'my_db']) {
    await assert.rejects(upsert(node, { ...server.entry, name }, { create: true, verify: true }), {
      kind: 'conflict',
      message: new RegExp(`^Cannot add the server "${name}": `),
      hint: /crabtalk mcp set my-db/,
    })
  }
  assert.deepEqual([server.starts(), await node.home.read('agents/crab.toml')], [[], text])
})

test('when several clients add the same name concurrently, one succeeds and the others get an error', async () => {
  await using node = await startMcpNode([])
  const outcomes = await Promise.allSettled(
    ['x', 'y', 'z'].map((command) => upsert(node, { name: 'one', command }, { create: true })),
  )
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 2)
  for (const outcome of refused) assert.equal((outcome as PromiseRejectedResult).reason.kind, 'conflict')
  assert.equal((await listed(node)).length, 1)
})

test('when two clients set the same server concurrently, one succeeds and the other gets an error', async () => {
  await using node = await startMcpNode([])
  await upsert(node, misbehavingEntry(FEW, { name: 'one' }))
  const outcomes = await Promise.allSettled(
    [{ timeout_ms: 5000 }, { exclude: ['add'] }].map((change) =>
      upsert(node, { ...misbehavingEntry(FEW, { name: 'one' }), ...change }, { verify: true }),
    ),
  )
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
  assert.deepEqual(
    refused.map(({ reason }) => [reason.kind, reason.message]),
    [['conflict', 'Cannot set the server "one": another client changed it in the meantime']],
  )
  assert.match(refused[0]!.reason.hint, /^try again/)
})

test('a server that is removed while it is being set stays removed', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, SLOW, { name: 'one' })
  await upsert(node, server.entry)
  const setting = upsert(node, { ...server.entry, timeout_ms: 5000 }, { verify: true })
  await until('it is started', () => server.starts().length > 0)
  await request(node.dispatch, 'deleteMcp', { agent: 'crab', name: 'one' }, NEVER)
  await assert.rejects(setting, { kind: 'missing', message: /"one"/ })
  assert.deepEqual(await listed(node), [])
})

test('a secret that changes while its server is being set is kept', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, SLOW, { name: 'one', env: { TOKEN: 'hunter2', LOG: '1' } })
  await upsert(node, server.entry)
  const placeholder = { ...server.entry, env: { ...server.entry.env, TOKEN: '[secret]' } }
  const setting = upsert(node, { ...placeholder, timeout_ms: 5000 }, { verify: true })
  await until('it is started', () => server.starts().length > 0)
  await upsert(node, { ...server.entry, env: { ...server.entry.env, TOKEN: 'hunter3' } })
  await assert.rejects(setting, { kind: 'conflict' })
  assert.match(await node.home.read('agents/crab.toml'), /hunter3/)
  await upsert(node, { ...placeholder, timeout_ms: 5000 })
  assert.match(await node.home.read('agents/crab.toml'), /hunter3/)
})

test('several clients that add different servers concurrently lose none', async () => {
  await using node = await startMcpNode([])
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(names.map((name) => upsert(node, { name, command: 'x' }, { create: true })))
  assert.deepEqual((await listed(node)).map(({ name }) => name).toSorted(), names)
})

test('a client that disconnects during verification ends the server, and nothing is written', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { at: { 'tools/list': 'hang' } })
  await upsert(node, { name: 'other', command: 'x' })
  const text = await node.home.read('agents/crab.toml')
  const stop = new AbortController()
  const writing = upsert(node, server.entry, { verify: true }, stop.signal)
  await until('the list is asked for', () => server.messages('tools/list').length > 0)
  stop.abort()
  await assert.rejects(writing, { kind: 'cancelled' })
  const [pid] = server.starts()
  await until('the server has ended', () => !isRunning(pid!))
  assert.equal(await node.home.read('agents/crab.toml'), text)
})

test('a server whose agent file breaks during verification ends, and nothing is written', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { ...FEW, delay: { 'tools/list': 300 } })
  await upsert(node, { name: 'other', command: 'x' })
  const writing = upsert(node, server.entry, { verify: true })
  await until('the list is asked for', () => server.messages('tools/list').length > 0)
  await node.home.write('agents/crab.toml', 'no = [toml')
  await assert.rejects(writing, { kind: 'config', message: /agents\/crab\.toml/ })
  await until('the server has ended', () => !server.starts().some(isRunning))
  assert.equal(await node.home.read('agents/crab.toml'), 'no = [toml')
})

test('upsert_mcp replaces one entry, keeps the rest of the file, and fills placeholders with stored secrets', async () => {
  await using node = await startMcpNode([])
  const text = [
    `id = "${ID}"`,
    '',
    '# The first.',
    '[[mcps]]',
    'name = "a" # its name',
    'command = "x"',
    'env = { TOKEN = "hunter2", LOG = "1" }',
    '',
    '# The second.',
    '[[mcps]]',
    'name = "b"',
    'command = "y"',
    '',
  ].join('\n')
  await node.home.write('agents/crab.toml', text)
  await upsert(node, { name: 'a', command: 'x', env: { TOKEN: '[secret]', LOG: '2' } })
  assert.equal(await node.home.read('agents/crab.toml'), text.replace('LOG = "1"', 'LOG = "2"'))
  await assert.rejects(upsert(node, { name: 'b', command: 'y', env: { TOKEN: '[secret]' } }), {
    kind: 'invalid',
    message: /^Cannot set the server "b": "env.TOKEN" is \[secret\]/,
  })
})

/** The configurations a client may send, and the expected errors. */
const WRONG: [string, RegExp][] = [
  ['', /^Cannot read the entry of the server: /],
  ['[]', /not a JSON object$/],
  ['{"name":"A B","command":"x"}', /^Cannot set the server "A B": "name" must be /],
  ['{"name":"a"}', /^Cannot set the server "a": .*"command"/],
  ['{"name":"a","command":"x","cwd":"here"}', /"cwd" must be an absolute path$/],
  ['{"name":"a","command":"x","comand":"y"}', /unknown key "comand"$/],
]

for (const [config, message] of WRONG) {
  test(`upsert_mcp rejects ${config || 'nothing'}`, async () => {
    await using node = await startMcpNode([])
    const body = { agent: 'crab', config, verify: true }
    await assert.rejects(request(node.dispatch, 'upsertMcp', body, NEVER), { kind: 'invalid', message })
    assert.deepEqual(await listed(node), [])
  })
}

test('delete_mcp removes one entry, and suggests the nearest name for an unknown one', async () => {
  await using node = await startMcpNode([])
  const text = `id = "${ID}"\n\n[[mcps]]\nname = "files"\ncommand = "x"\n\n# Stays.\n[[mcps]]\nname = "db"\ncommand = "y"\n`
  await node.home.write('agents/crab.toml', text)
  const remove = (name: string) => request(node.dispatch, 'deleteMcp', { agent: 'crab', name }, NEVER)
  await assert.rejects(remove('flies'), { kind: 'missing', hint: 'did you mean "files"?' })
  await remove('files')
  const after = `id = "${ID}"\n\n# Stays.\n[[mcps]]\nname = "db"\ncommand = "y"\n`
  assert.equal(await node.home.read('agents/crab.toml'), after)
  await remove('db')
  assert.deepEqual(await listed(node), [])
})

test('replace_mcps replaces all entries, or none if one is wrong or the tools have changed since', async () => {
  await using node = await startMcpNode([])
  await upsert(node, { name: 'a', command: 'x', env: { TOKEN: 'hunter2' } })
  const replace = (entries: object[], generation?: number) => {
    const configs = entries.map((entry) => JSON.stringify(entry))
    return request(node.dispatch, 'replaceMcps', { agent: 'crab', configs, generation: generation! }, NEVER)
  }
  const b = { name: 'b', command: 'y' }
  await assert.rejects(replace([b, { name: 'c' }]), {
    kind: 'invalid',
    message: /^Cannot replace the servers of "crab": entry 2: /,
  })
  await assert.rejects(replace([b, b]), { kind: 'invalid', message: /taken/ })
  const generation = (await listed(node))[0]!.generation
  await assert.rejects(replace([b], generation + 1), { kind: 'conflict' })
  assert.deepEqual(
    (await listed(node)).map(({ name }) => name),
    ['a'],
  )
  const { mcps } = await replace([b, { name: 'a', command: 'x', env: { TOKEN: '[secret]' } }], generation)
  assert.deepEqual(
    mcps.map(({ name }) => name),
    ['b', 'a'],
  )
  assert.match(await node.home.read('agents/crab.toml'), /hunter2/)
})

test('list_mcps lists the servers of one agent or of all with secrets hidden, and starts none', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, FEW, { name: 'one', env: { TOKEN: 'hunter2' } })
  await upsert(node, server.entry)
  await request(node.dispatch, 'createAgent', { name: 'other', config: '', prompt: '' }, NEVER)
  await upsert(node, { name: 'two', command: 'x', args: ['--token', 'hunter2', 'y://me:hunter2@h'] })
  const far = {
    name: 'far',
    url: 'https://me:hunter2@h/mcp',
    auth: 'bearer-hunter2',
    headers: { 'X-Key': 'hunter2' },
  }
  await upsert(node, far, { agent: 'other' })
  const all = await listed(node, '')
  assert.deepEqual(
    all.map(({ source, name }) => [source, name]),
    [
      ['crab', 'one'],
      ['crab', 'two'],
      ['other', 'far'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(all), /hunter2/)
  assert.deepEqual(
    (await listed(node, 'other')).map(({ url, auth }) => [url, auth]),
    [['https://[secret]@h/mcp', '[secret]']],
  )
  assert.deepEqual(server.starts(), [])
  await assert.rejects(listed(node, 'nobody'), { kind: 'missing' })
})

function upsert(
  node: TestDispatch,
  entry: object,
  more: Partial<UpsertMcpMsg> = {},
  signal: AbortSignal = NEVER,
) {
  const body = { agent: 'crab', config: JSON.stringify(entry), ...more }
  return request(node.dispatch, 'upsertMcp', body, signal)
}

async function listed(node: TestDispatch, agent = 'crab') {
  return (await request(node.dispatch, 'listMcps', { agent }, NEVER)).mcps
}
