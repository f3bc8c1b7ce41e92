import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, asyncProperty, assert as check, nat, uint8Array } from 'fast-check'
import { encodeFrame, MAX_FRAME_BYTES, readFrames } from '../../../src/core/protocol/frame.ts'

const payloads = array(uint8Array({ maxLength: 300 }), { maxLength: 8 })

test('readFrames() reverses encodeFrame(), for any division of the bytes', async () => {
  await check(
    asyncProperty(payloads, array(nat(2500)), async (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(encodeFrame))
      assert.deepEqual(await readAll(cutAt(bytes, cuts)), sent.map(toArray))
    }),
  )
})

test('readFrames() reverses encodeFrame(), byte by byte', async () => {
  await check(
    asyncProperty(payloads, async (sent) => {
      const bytes = Buffer.concat(sent.map(encodeFrame))
      assert.deepEqual(await readAll([...bytes].map((byte) => Uint8Array.of(byte))), sent.map(toArray))
    }),
  )
})

test('readFrames() reports a stream that ends inside a frame, after the frames before it', async () => {
  const frame = encodeFrame(Uint8Array.of(1, 2, 3))
  for (let missing = 1; missing < frame.length; missing++) {
    const frames = readFrames(from([frame, frame.subarray(0, frame.length - missing)]))
    assert.deepEqual(toArray((await frames.next()).value!), [1, 2, 3])
    await assert.rejects(frames.next(), { kind: 'unavailable' })
  }
})

test('readFrames() ends normally when the stream ends between frames, or is empty', async () => {
  assert.deepEqual(await readAll([]), [])
  assert.deepEqual(await readAll([new Uint8Array()]), [])
  assert.deepEqual(await readAll([encodeFrame(new Uint8Array()), new Uint8Array()]), [[]])
})

test('a frame carries 16 MiB, also when it arrives in many chunks', async () => {
  const payload = Buffer.alloc(MAX_FRAME_BYTES, 'crab')
  const frame = encodeFrame(payload)
  assert.equal(frame.length, 4 + 16_777_216)
  const [whole] = await Array.fromAsync(readFrames(from([frame])))
  const cuts = Array.from({ length: 5000 }, (_, index) => index * 3371)
  const [pieced] = await Array.fromAsync(readFrames(from(cutAt(frame, cuts))))
  assert.ok(payload.equals(whole!))
  assert.ok(payload.equals(pieced!))
})

test('encodeFrame() rejects one byte more than 16 MiB', () => {
  assert.throws(() => encodeFrame(Buffer.alloc(MAX_FRAME_BYTES + 1)), { kind: 'invalid' })
})

test('readFrames() rejects a length over the limit before the payload arrives', async () => {
  for (const header of ['01000001', 'ffffffff']) {
    const endless = async function* () {
      yield Buffer.from(header.slice(0, 4), 'hex')
      yield Buffer.from(header.slice(4), 'hex')
      assert.fail('asked for more')
    }
    await assert.rejects(Array.fromAsync(readFrames(endless())), { kind: 'invalid', message: /16777216/ })
    await assert.rejects(readAll([Buffer.from(header, 'hex')]), { kind: 'invalid' })
  }
})

test('readFrames() limits the first payload, and only the first, to a smaller size', async () => {
  const [small, large] = [new Uint8Array(10), new Uint8Array(11)]
  const sent = [small, large, large].map(encodeFrame)
  assert.equal((await Array.fromAsync(readFrames(from(sent), 10))).length, 3)
  const bytes = Buffer.concat(sent)
  for (const chunks of [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))]) {
    assert.equal((await Array.fromAsync(readFrames(from(chunks), 10))).length, 3)
    await assert.rejects(Array.fromAsync(readFrames(from(chunks), 9)), {
      kind: 'invalid',
      message: /limit is 9/,
    })
  }
})

test('leaving readFrames() early ends the byte stream', async () => {
  let ended = false
  const bytes = async function* () {
    try {
      yield encodeFrame(Uint8Array.of(1))
      assert.fail('asked for more')
    } finally {
      ended = true
    }
  }
  for await (const payload of readFrames(bytes())) {
    assert.deepEqual(toArray(payload), [1])
    break
  }
  assert.ok(ended)
})

test('a payload that arrives in one chunk is not copied', async () => {
  const chunk = Buffer.concat([encodeFrame(Uint8Array.of(1, 2)), encodeFrame(Uint8Array.of(3))])
  const received = await Array.fromAsync(readFrames(from([chunk])))
  assert.deepEqual(
    received.map(({ byteOffset }) => byteOffset - chunk.byteOffset),
    [4, 10],
  )
  assert.ok(received.every(({ buffer }) => buffer === chunk.buffer))
})

test('a payload does not change when more bytes arrive', async () => {
  const sent = Array.from({ length: 50 }, (_, index) => new Uint8Array(index * 7).fill(index))
  const bytes = Buffer.concat(sent.map(encodeFrame))
  const received = await Array.fromAsync(readFrames(from(cutAt(bytes, [10, 500, 1001, 1002, 4000]))))
  assert.deepEqual(received.map(toArray), sent.map(toArray))
})

function cutAt(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

async function readAll(chunks: Uint8Array[]): Promise<number[][]> {
  return (await Array.fromAsync(readFrames(from(chunks)))).map(toArray)
}

async function* from(chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

function toArray(bytes: Uint8Array): number[] {
  return [...bytes]
}
