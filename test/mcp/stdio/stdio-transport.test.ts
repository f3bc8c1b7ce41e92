import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { StdioTransport } from '../../../src/mcp/stdio/stdio-transport.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

const LINES: Record<string, [string, unknown[]]> = {
  'a message': [PING, [1]],
  'a message behind a byte order mark': [`\uFEFF${PING}`, [1]],
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
  'a result that is none': ['{"jsonrpc":"2.0","id":1,"result":7}', []],
}
for (const [what, [line, ids]] of Object.entries(LINES)) {
  test(`StdioTransport hands on ${ids.length} of ${what}`, async () => {
    const { transport, stdout } = await started()
    const seen: unknown[] = []
    transport.onmessage = (message) => seen.push((message as { id?: unknown }).id)
    stdout.write(`${line}\n`)
    assert.deepEqual(seen, ids)
    assert.equal(transport.hasSpoken, ids.length > 0)
  })
}

test('StdioTransport writes a message a line', async () => {
  const { transport, stdin } = await started()
  await transport.send({ jsonrpc: '2.0', method: 'a', params: { text: 'b\nc' } })
  assert.equal(String(stdin.read()), '{"jsonrpc":"2.0","method":"a","params":{"text":"b\\nc"}}\n')
})

test('StdioTransport is not ended by who cannot take a message', async () => {
  const { transport, stdout } = await started()
  const failures: unknown[] = []
  transport.onerror = (error) => failures.push(error.message)
  transport.onmessage = () => {
    throw new Error('too deep')
  }
  stdout.write(`${PING}\n`)
  assert.deepEqual(failures, ['too deep'])
})

test('StdioTransport gives up a server that leaves more unread than it may', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const said: string[] = []
  const transport = new StdioTransport({ stdin, stdout, onBroken: (why) => said.push(why) })
  let closed = 0
  transport.onclose = () => closed++
  const message = { jsonrpc: '2.0', method: 'a', params: { text: 'x'.repeat(2 ** 20) } } as const
  for (let sent = 0; sent < 63; sent++) await transport.send(message)
  assert.deepEqual([said, closed], [[], 0])
  await transport.send(message)
  assert.deepEqual([said, closed], [['it has left more than 64 MiB unread'], 1])
  await assert.rejects(transport.send(message), { kind: 'unavailable' })
})

test('StdioTransport says once that it is over, and then sends and hands on nothing', async () => {
  const { transport, stdin, stdout } = await started()
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

async function started() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const transport = new StdioTransport({ stdin, stdout, onBroken: assert.fail })
  await transport.start()
  return { transport, stdin, stdout }
}
