import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { StdioTransport } from '../../../src/mcp/stdio/stdio-transport.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

const LINES: Record<string, [string, unknown[]]> = {
  'a message': [PING, [1]],
  'a message after a byte order mark': [`\uFEFF${PING}`, [1]],
  'a message before a carriage return': [`${PING}\r`, [1]],
  'a batch': [`[${PING},{"jsonrpc":"2.0","id":"2","result":{}},7]`, [1, '2']],
  'a refusal': ['{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}', [3]],
  'a notification': ['{"jsonrpc":"2.0","method":"notifications/message"}', [undefined]],
  words: ['listening on stdio', []],
  nothing: ['', []],
  'half a message': ['{"jsonrpc":"2.0","id":1,"meth', []],
  'a line of a log': ['{"level":"info","id":5}', []],
  'a list, a number, a text': ['[]\n42\n"x"\nnull', []],
  'an answer to nothing': ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}', []],
  'an invalid result': ['{"jsonrpc":"2.0","id":1,"result":7}', [1]],
}
for (const [what, [line, ids]] of Object.entries(LINES)) {
  test(`StdioTransport delivers ${ids.length} of ${what}`, async () => {
    const { transport, stdout } = await startTransport()
    const seen: unknown[] = []
    transport.onmessage = (message) => seen.push((message as { id?: unknown }).id)
    stdout.write(`${line}\n`)
    assert.deepEqual(seen, ids)
    assert.equal(transport.hasSpoken, ids.length > 0)
  })
}

const MALFORMED: [string, string][] = [
  ['"result":null', 'it answered {"result":null}'],
  ['"error":{"code":"E_FOO","message":"boom"}', 'boom ("E_FOO")'],
  ['"error":{"code":1.5,"message":"boom"}', 'boom (1.5)'],
  ['"error":"no"', 'it answered {"error":"no"}'],
]
for (const [part, words] of MALFORMED) {
  test(`StdioTransport turns the malformed answer ${part} into a refusal`, async () => {
    const { transport, stdout } = await startTransport()
    const seen: unknown[] = []
    transport.onmessage = (message) => seen.push(message)
    stdout.write(`{"jsonrpc":"2.0","id":1,${part}}\n`)
    assert.deepEqual(seen, [{ jsonrpc: '2.0', id: 1, error: { code: -32_603, message: words } }])
  })
}

test('StdioTransport writes one message per line', async () => {
  const { transport, stdin } = await startTransport()
  await transport.send({ jsonrpc: '2.0', method: 'a', params: { text: 'b\nc' } })
  assert.equal(String(stdin.read()), '{"jsonrpc":"2.0","method":"a","params":{"text":"b\\nc"}}\n')
})

test('StdioTransport survives a handler that throws', async () => {
  const { transport, stdout } = await startTransport()
  const failures: unknown[] = []
  transport.onerror = (error) => failures.push(error.message)
  transport.onmessage = () => {
    throw new Error('too deep')
  }
  stdout.write(`${PING}\n`)
  assert.deepEqual(failures, ['too deep'])
})

test('StdioTransport gives up a server that leaves too much unread', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const reasons: string[] = []
  const transport = new StdioTransport({
    stdin,
    stdout,
    onBroken: (why) => reasons.push(why),
    onText: () => {},
  })
  let closed = 0
  transport.onclose = () => closed++
  const message = { jsonrpc: '2.0', method: 'a', params: { text: 'x'.repeat(2 ** 20) } } as const
  for (let sent = 0; sent < 63; sent++) await transport.send(message)
  assert.deepEqual([reasons, closed], [[], 0])
  await transport.send(message)
  assert.deepEqual([reasons, closed], [['it has left more than 64 MiB unread'], 1])
  await assert.rejects(transport.send(message), { kind: 'unavailable' })
})

test('StdioTransport reports its end once, and then sends and delivers nothing', async () => {
  const { transport, stdin, stdout } = await startTransport()
  let closed = 0
  transport.onclose = () => closed++
  transport.onmessage = () => assert.fail('a message')
  await transport.close()
  transport.end()
  stdout.write(`${PING}\n`)
  assert.equal(closed, 1)
  assert.equal(stdin.writableEnded, true)
  await assert.rejects(transport.send({ jsonrpc: '2.0', method: 'a' }), { kind: 'unavailable' })
})

async function startTransport() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const transport = new StdioTransport({ stdin, stdout, onBroken: assert.fail, onText: () => {} })
  await transport.start()
  return { transport, stdin, stdout }
}
