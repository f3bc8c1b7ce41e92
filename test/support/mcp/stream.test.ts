import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../until.ts'
import { BEHAVIOURS, misbehavingEntry, watchedServer } from './mcp-servers.ts'
import { garbage, splitIntoPieces } from './noise.ts'
import type { Noise } from './options.ts'
import { startRaw } from './raw-client.ts'

const KINDS: readonly Noise[] = ['text', 'blank', 'json', 'partial', 'huge']

for (const kind of KINDS)
  test(`--noise=${kind} comes before every message and is not a message`, async () => {
    const noise = garbage([kind], 1_000)
    await using server = startRaw(misbehavingEntry({ noise: [kind], huge: 1_000 }))
    await server.initialize()
    await server.request('ping')
    const lines = server.messages().map((message) => `${noise}${JSON.stringify(message)}\n`)
    assert.equal(server.stdout().toString(), lines.join(''))
    assert.equal(lines.length, 2)
    for (const line of noise.split('\n')) assert.ok(!isMessage(line), line)
  })

test('a huge line is longer than the buffer of clients', () => {
  assert.ok(garbage(['huge']).length > 10 * 1024 * 1024)
})

test('--noise=bom comes once, before the first message', async () => {
  await using server = startRaw(misbehavingEntry({ noise: ['bom'] }))
  server.say({ id: 1, method: 'ping' })
  await server.request('ping')
  const lines = server.stdout().toString().split('\n')
  assert.ok(lines[0]!.startsWith('\uFEFF{"'))
  assert.ok(lines[1]!.startsWith('{"'))
})

test('--noise=crlf ends lines as Windows does', async () => {
  await using server = startRaw(misbehavingEntry({ noise: ['crlf'] }))
  await server.request('ping')
  assert.ok(server.stdout().toString().endsWith('}\r\n'))
})

test('--noise=split cuts a message into pieces, within characters too', async () => {
  const line = JSON.stringify({ text: 'é'.repeat(200) })
  const pieces = splitIntoPieces(line, true, { noise: ['split'] })
  assert.ok(pieces.length > 10)
  assert.equal(Buffer.concat(pieces).toString(), `${line}\n`)
  assert.ok(pieces.some((piece) => piece.toString().includes('\uFFFD')))
  await using server = startRaw(misbehavingEntry({ noise: ['split'] }))
  let chunks = 0
  server.child.stdout.on('data', () => chunks++)
  await server.initialize()
  assert.ok(chunks > 1)
})

test('--flood stops until standard error is read', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, BEHAVIOURS.stderrFlood)
  await using flooding = startRaw(watched.entry, { reads: false })
  const flooded = flooding.initialize()
  await until('it was asked', () => watched.messages('initialize').length === 1)
  await using other = startRaw(misbehavingEntry())
  for (let time = 0; time < 5; time++) await other.request('ping')
  assert.deepEqual(flooding.messages(), [])
  let bytes = 0
  flooding.child.stderr.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await flooded
  await until('all of it came', () => bytes === 2_000_000)
})

test('the noise and stderr tools write once', async () => {
  await using server = startRaw(misbehavingEntry({ huge: 100 }))
  await server.initialize()
  const before = server.stdout().length
  const printed = await server.call('noise', { kinds: 'text,huge' })
  const after = server.stdout().subarray(before).toString()
  assert.equal(after, `${garbage(['text', 'huge'], 100)}${JSON.stringify(printed)}\n`)
  await server.call('stderr', { text: 'careful', bytes: 200 })
  await until('it arrived', () => server.stderr().endsWith('careful\n'))
  assert.match(server.stderr(), /^flood 1 of 2 \.+\nflood 2 of 2 \.+\ncareful\n$/)
})

test('lines that are not messages are recorded unchanged', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path)
  await using server = startRaw(watched.entry)
  server.child.stdin.write('hello there\n')
  await server.request('ping')
  assert.deepEqual(
    watched.received().map(({ text, message }) => text ?? message?.method),
    ['hello there', 'ping'],
  )
})

function isMessage(line: string): boolean {
  try {
    return JSON.parse(line).jsonrpc === '2.0'
  } catch {
    return false
  }
}
