import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type StreamFault, wholeFrames } from '../../../src/core/provider/event-frames.ts'
import { converseFault, converseWriter } from '../../support/converse-wire.ts'
import { propertyRuns } from '../../support/property-runs.ts'

describe('wholeFrames()', () => {
  test('yields every frame, for any division of the bytes, and drops an incomplete one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }),
        fc.nat(60),
        async (texts, sizes, cut) => {
          const writer = converseWriter()
          const frames = texts.map((text) => Buffer.from(writer.part(text)))
          const last = Buffer.from(writer.part('the last')).subarray(0, cut)
          const bytes = Buffer.concat([...frames, last])
          const got = await Array.fromAsync(wholeFrames(inPieces(bytes, sizes), noFault))
          assert.deepEqual(Buffer.concat(got), Buffer.concat(frames))
        },
      ),
      { numRuns: propertyRuns(1_000) },
    )
  })

  test('ends before an exception or an error, and reports it', async () => {
    const before = Buffer.from(converseWriter().part('hello'))
    const behind = Buffer.from(converseWriter().part('never'))
    for (const [fault, reported] of [
      [
        converseFault('exception', 'accessDeniedException', 'not you'),
        { name: 'accessDeniedException', isException: true, body: '{"message":"not you"}' },
      ],
      [
        converseFault('error', 'InternalFailure', 'oh no'),
        { name: 'InternalFailure', isException: false, body: 'oh no' },
      ],
    ] as const) {
      const faults: StreamFault[] = []
      const bytes = Buffer.concat([before, fault, behind])
      const got = await Array.fromAsync(wholeFrames(inPieces(bytes, [50]), (one) => faults.push(one)))
      assert.deepEqual(Buffer.concat(got), before)
      assert.deepEqual(faults, [reported])
    }
  })

  test('fails with failed on invalid frames, and on modified ones', async () => {
    const frame = Buffer.from(converseWriter().part('hello'))
    frame[frame.length - 6]! ^= 1
    for (const bytes of [frame, Buffer.from('data: {"half":\n\n'), Buffer.alloc(32)]) {
      await assert.rejects(Array.fromAsync(wholeFrames(inPieces(bytes, [7]), noFault)), { kind: 'failed' })
    }
  })
})

function noFault({ name }: StreamFault): void {
  assert.fail(name)
}

function inPieces(bytes: Buffer, sizes: readonly number[]): ReadableStream<Uint8Array> {
  let at = 0
  let turn = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const size = sizes[turn++ % sizes.length]!
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}
