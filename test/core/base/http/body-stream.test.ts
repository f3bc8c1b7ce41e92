import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { toBodyStream } from '../../../../src/core/base/http/body-stream.ts'
import { listen } from '../../../support/mcp/http/listener.ts'

async function open(origin: string): Promise<IncomingMessage> {
  const request = get(origin)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  request.on('error', () => {})
  return answer
}

test('toBodyStream() yields all data in order, in pieces of the requested size', async () => {
  const all = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
  await using server = await listen((_, response) => response.end(all))
  const pieces = await Array.fromAsync(
    toBodyStream(await open(server.origin), { pieceBytes: 1_000, toError: () => undefined }),
  )
  assert.ok(pieces.every(({ length }) => length <= 1_000))
  assert.ok(Buffer.concat(pieces).equals(all))
})

test('toBodyStream() keeps data before a cut connection, and fails unless the cut is a valid end', async () => {
  await using server = await listen((_, response) => {
    response.writeHead(200, { 'content-length': '100000' })
    response.write('x'.repeat(50_000), () => response.destroy())
  })
  const ending = toBodyStream(await open(server.origin), { pieceBytes: 1_000, toError: () => undefined })
  assert.equal(Buffer.concat(await Array.fromAsync(ending)).length, 50_000)
  const failing = toBodyStream(await open(server.origin), {
    pieceBytes: 1_000,
    toError: () => new Error('cut'),
  })
  await assert.rejects(Array.fromAsync(failing), { message: 'cut' })
})

test('toBodyStream() closes the connection when it is cancelled with unread data', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  await using server = await listen((_, response) => {
    response.once('close', resolve)
    response.write('x'.repeat(50_000))
  })
  const answer = await open(server.origin)
  const reader = toBodyStream(answer, { pieceBytes: 1_000, toError: () => new Error('cut') }).getReader()
  assert.equal((await reader.read()).value?.length, 1_000)
  await reader.cancel()
  await closed
  assert.equal((await reader.read()).done, true)
})

test('toBodyStream() fails when nothing arrives for too long', async () => {
  await using server = await listen((_, response) => {
    response.write('start')
  })
  const body = toBodyStream(await open(server.origin), {
    pieceBytes: 1_000,
    silence: { ms: 20, toError: () => new Error('silent') },
    toError: (reason) => reason,
  })
  const reader = body.getReader()
  assert.equal(Buffer.from((await reader.read()).value!).toString(), 'start')
  await assert.rejects(reader.read(), { message: 'silent' })
})
