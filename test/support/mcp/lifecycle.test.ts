import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { endLiving, livingWith } from '../orphans.ts'
import { until } from '../until.ts'
import { CRASH_WORDS } from './lifecycle.ts'
import { BEHAVIOURS, misbehavingEntry, watchedServer } from './mcp-servers.ts'
import type { Message } from './message.ts'
import { ACTS, type ServerOptions } from './options.ts'
import { type RawClient, startRaw } from './raw-client.ts'

const DEADLY = [
  ['crash', { code: 1, signal: null }],
  ['exit', { code: 0, signal: null }],
  ['kill', { code: null, signal: 'SIGKILL' }],
  ['torn', { code: 1, signal: null }],
] as const
const POINTS = ['start', 'initialize', 'tools/list', 'tools/call']
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

for (const [act, end] of DEADLY)
  test(`--at=…=${act} ends the server at that point and not before`, async () => {
    for (const point of POINTS) {
      await using server = startRaw(misbehavingEntry({ at: { [point]: act } }))
      walkTo(point, server)
      assert.deepEqual(await server.exit, end, point)
      await server.closed
      assert.deepEqual(
        server.messages().map(({ id }) => id),
        POINTS.slice(1, POINTS.indexOf(point)),
        point,
      )
      assert.equal(server.stderr(), act === 'crash' ? `${CRASH_WORDS.join('\n')}\n` : '', point)
      const rest = server.stdout().toString().split('\n').at(-1)!
      assert.equal(rest.startsWith('{"jsonrpc"'), act === 'torn', `${point}: ${rest}`)
    }
  })

test('--at=…=error rejects requests of that method only', async () => {
  await using server = startRaw(misbehavingEntry({ at: { 'tools/list': 'error' } }))
  await server.initialize()
  assert.equal((await server.request('tools/list')).error?.code, -32603)
  assert.ok((await server.request('ping')).result)
})

test('--at=…=hang answers everything but that', async () => {
  for (const point of POINTS.slice(1)) {
    await using server = startRaw(misbehavingEntry({ at: { [point]: 'hang' } }))
    walkTo(point, server)
    for (let time = 0; time < 5; time++) await server.request('ping')
    const answered = server.messages().flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
    assert.deepEqual(answered, POINTS.slice(1, POINTS.indexOf(point)))
  }
})

test('--at=…=deaf stops reading', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, { at: { 'tools/call': 'deaf' }, ignore: ['SIGHUP'] })
  await using server = startRaw(watched.entry)
  await server.initialize()
  server.say({ id: 'call', method: 'tools/call', params: { name: 'pid' } })
  await until('the call arrived', () => watched.messages('tools/call').length === 1)
  for (let time = 1; time <= 5; time++) {
    server.say({ id: time, method: 'ping' })
    server.child.kill('SIGHUP')
    await until(
      'it lives',
      () => watched.received().filter(({ event }) => event === 'SIGHUP').length === time,
    )
  }
  assert.deepEqual(watched.messages('ping'), [])
})

test('--at=…=close closes standard output and keeps running', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, BEHAVIOURS.closeOnCall)
  await using server = startRaw(watched.entry)
  await server.initialize()
  server.say({ id: 'call', method: 'tools/call', params: { name: 'pid' } })
  await once(server.child.stdout, 'close')
  server.say({ method: 'notifications/progress' })
  await until('it reads on', () => watched.messages('notifications/progress').length === 1)
})

test('--first=2 lets the third start succeed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, { at: { initialize: 'crash' }, first: 2 })
  for (const isGood of [false, false, true]) {
    await using server = startRaw(watched.entry)
    if (isGood) assert.ok((await server.initialize()).result)
    else {
      server.say({ id: 1, method: 'initialize' })
      assert.equal((await server.exit).code, 1)
    }
  }
  assert.equal(new Set(watched.starts()).size, 3)
})

test('--delay=start=… answers nothing until then', async () => {
  await using late = startRaw(misbehavingEntry({ delay: { start: 60_000 } }))
  late.say({ id: 1, method: 'ping' })
  for (let time = 0; time < 3; time++) {
    await using soon = startRaw(misbehavingEntry({ delay: { start: 10 } }))
    await soon.request('ping')
  }
  assert.deepEqual(late.messages(), [])
})

test('--delay=METHOD=… lets other messages go first', async () => {
  await using server = startRaw(misbehavingEntry({ delay: { 'tools/list': 300 } }))
  const list = server.request('tools/list')
  await server.request('ping')
  await list
  assert.deepEqual(
    server.messages().map(({ id }) => id),
    [2, 1],
  )
})

test('a server ends when its input ends, and by a signal', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, { delay: { exit: 1 } })
  await using closed = startRaw(watched.entry)
  await closed.initialize()
  closed.child.stdin.end()
  assert.deepEqual(await closed.exit, { code: 0, signal: null })
  assert.equal(watched.received().at(-1)?.event, 'eof')
  for (const signal of SIGNALS) {
    await using server = startRaw(watched.entry)
    await server.initialize()
    server.child.kill(signal)
    assert.deepEqual(await server.exit, { code: null, signal })
    assert.equal(watched.received().at(-1)?.event, signal)
  }
})

test('--delay=exit=… takes that long to exit', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, { delay: { exit: 60_000 } })
  await using server = startRaw(watched.entry)
  server.child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
  await until('it saw the end', () => watched.received().at(-1)?.event === 'eof')
  for (const signal of [...SIGNALS, ...SIGNALS]) {
    server.child.kill(signal)
    await until(`it saw ${signal}`, () => watched.received().at(-1)?.event === signal)
  }
  assert.deepEqual([server.child.exitCode, server.child.signalCode], [null, null])
})

test('a stubborn server survives the end of its input and every signal but KILL', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, BEHAVIOURS.stubborn)
  await using server = startRaw(watched.entry)
  await server.initialize()
  server.child.stdout.destroy()
  server.say({ id: 'unheard', method: 'ping' })
  server.child.stdin.end()
  await until('it saw the end', () => watched.received().at(-1)?.event === 'eof')
  for (let round = 0; round < 2; round++)
    for (const signal of SIGNALS) {
      server.child.kill(signal)
      await until(`it saw ${signal}`, () => watched.received().at(-1)?.event === signal)
    }
  assert.deepEqual(
    (await livingWith(watched.mark)).map(({ pid }) => pid),
    watched.starts(),
  )
  server.child.kill('SIGKILL')
  assert.equal((await server.exit).signal, 'SIGKILL')
})

for (const kind of ['plain', 'session', 'stubborn', 'session+stubborn'] as const)
  test(`a grandchild (${kind}) outlives its server and holds its output`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
    const watched = watchedServer(folder.path, { grandchild: [kind] })
    await using server = startRaw(watched.entry)
    let hasClosed = false
    void server.closed.then(() => {
      hasClosed = true
    })
    await server.initialize()
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)
    const [grandchild, ...others] = await livingWith(watched.mark)
    assert.deepEqual(others, [])
    assert.equal(hasClosed, false)
    assert.equal(sessionOf(grandchild!.pid) === grandchild!.pid, kind.startsWith('session'))
    process.kill(grandchild!.pid, 'SIGTERM')
    if (kind.endsWith('stubborn')) {
      process.kill(grandchild!.pid, 'SIGINT')
      assert.deepEqual((await endLiving(watched.mark)).length, 1)
    }
    await server.closed
  })

test('the spawn tool leaves a grandchild and returns its pid', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path)
  await using server = startRaw(watched.entry)
  await server.initialize()
  const pid = Number(textOf(await server.call('spawn', { kind: 'session' })))
  server.child.kill('SIGKILL')
  await server.exit
  assert.deepEqual(
    (await endLiving(watched.mark)).map((orphan) => orphan.pid),
    [pid],
  )
})

test('the act tool performs each act, immediately or after its answer', async () => {
  for (const how of ACTS) {
    await using server = startRaw(misbehavingEntry())
    await server.initialize()
    if (how === 'error') {
      assert.ok((await server.call('act', { how })).error)
      continue
    }
    assert.equal(textOf(await server.call('act', { how, after_ms: 0 })), `will ${how}`)
    const deadly = DEADLY.find(([act]) => act === how)
    if (deadly !== undefined) assert.deepEqual(await server.exit, deadly[1])
  }
})

test('a shell in front of the server stays', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, {}, { wrapped: true })
  await using server = startRaw(watched.entry)
  await server.initialize()
  const living = await livingWith(watched.mark)
  assert.deepEqual(
    living.map(({ pid, parent }) => [pid, parent]),
    [
      [server.child.pid, process.pid],
      [watched.starts()[0], server.child.pid],
    ],
  )
  server.child.stdin.end()
  assert.equal((await server.exit).code, 0)
})

test('every process of a server with all faults can be found', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const worst: ServerOptions = {
    ...BEHAVIOURS.stubborn,
    grandchild: ['plain', 'session+stubborn'],
    noise: ['text', 'partial'],
    flood: 1_000,
    answers: ['twice', 'unknown'],
  }
  const watched = watchedServer(folder.path, worst, { wrapped: true })
  await using server = startRaw(watched.entry)
  assert.ok((await server.initialize()).result)
  assert.equal((await livingWith(watched.mark)).length, 4)
})

/** Sends what a client sends up to a point, without waiting for answers; the methods are the ids. */
function walkTo(point: string, { say }: RawClient): void {
  for (const method of POINTS.slice(1, POINTS.indexOf(point) + 1))
    say({ id: method, method, params: PARAMS[method]! })
}

const PARAMS: Readonly<Record<string, NonNullable<Message['params']>>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  'tools/list': {},
  'tools/call': { name: 'pid', arguments: {} },
}

function textOf({ result }: Message): string {
  return (result!['content'] as { text: string }[])[0]!.text
}

function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[4])
}
