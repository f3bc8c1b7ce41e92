import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundedBody, readBodyStart } from '../../../src/mcp/remote/bounded-body.ts'

const MIB = 2 ** 20

test('boundedBody() passes a stream of any length whose events are short, for any division into chunks', async () => {
  const event = Buffer.from(`data: ${'x'.repeat(3 * MIB)}\r\n\r\n`)
  const pieces = Array.from({ length: 30 }, () => [
    event.subarray(0, event.length - 1),
    event.subarray(-1),
  ]).flat()
  assert.deepEqual(await passThrough(pieces, true), {
    size: 30 * event.length,
    isOver: true,
    error: undefined,
  })
})

test('boundedBody() rejects an event, or a whole body, of more than 64 MiB', async () => {
  const pieces = Array.from({ length: 70 }, () => Buffer.alloc(MIB, 'x\n'))
  for (const isStream of [true, false]) {
    const { size, error } = await passThrough(pieces, isStream)
    assert.equal(error, 'it sent a message of more than 64 MiB')
    assert.ok(size <= 64 * MIB)
  }
})

test('readBodyStart() reads the start', async () => {
  assert.equal(
    (await readBodyStart(ReadableStream.from([Buffer.alloc(MIB, 'x'), Buffer.from('y')]))).length,
    16 * 1024,
  )
  assert.equal(await readBodyStart(null), '')
})

async function passThrough(pieces: readonly Buffer[], isStream: boolean) {
  const result = { size: 0, isOver: false, error: undefined as string | undefined }
  const body = boundedBody(ReadableStream.from(pieces as Buffer<ArrayBuffer>[]), {
    isStream,
    onTooLong: ({ message }) => {
      result.error = message
    },
    onEnd: () => {
      result.isOver = true
    },
  })
  try {
    for await (const chunk of body) result.size += chunk.length
  } catch {
    // told in onTooLong
  }
  return result
}
