import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextPhase } from 'node:timers/promises'
import { readUntilExit } from '../../../src/core/process/read-until-exit.ts'

const never = new Promise<never>(() => {})

test('readUntilExit() reads to the end, whether the program has exited or not', async () => {
  for (const exited of [never, Promise.resolve()]) {
    const pieces: string[] = []
    await readUntilExit(makeStream(['one', 'two']), exited, (piece) => void pieces.push(String(piece)))
    assert.deepEqual(pieces, ['one', 'two'])
  }
})

test('readUntilExit() handles one piece after the other', async () => {
  let taking = 0
  const pieces: string[] = []
  await readUntilExit(makeStream(['one', 'two', 'three']), Promise.resolve(), async (piece) => {
    taking += 1
    assert.equal(taking, 1)
    for (let phase = 0; phase < 10; phase += 1) await nextPhase()
    pieces.push(String(piece))
    taking -= 1
  })
  assert.deepEqual(pieces, ['one', 'two', 'three'])
})

test('readUntilExit() stops reading an endless flood after the exit', async () => {
  async function* flood() {
    for (;;) {
      await nextPhase()
      yield Buffer.alloc(65_536)
    }
  }
  const stream = Readable.from(flood())
  let bytes = 0
  await readUntilExit(stream, Promise.resolve(), (piece) => {
    bytes += piece.length
    return undefined
  })
  assert.ok(bytes >= 212_992, 'more than a pipe holds')
  assert.equal(stream.readableFlowing, true)
  stream.destroy()
})

test('readUntilExit() ends with a stream that fails', async () => {
  const stream = new Readable({ read() {} }).on('error', () => {})
  const reading = readUntilExit(stream, never, () => undefined)
  stream.destroy(new Error('broken'))
  await reading
  await readUntilExit(stream, never, () => undefined)
})

test('readUntilExit() fails like its consumer, and discards the rest', async () => {
  const failure = new Error('full')
  const failing = [
    () => {
      throw failure
    },
    () => Promise.reject(failure),
  ]
  for (const take of failing) {
    const stream = makeStream(['one', 'two', 'three'])
    await assert.rejects(readUntilExit(stream, never, take), (reason) => reason === failure)
    assert.equal(stream.readableFlowing, true)
    assert.equal(stream.listenerCount('data'), 0)
  }
})

/** Returns a stream that emits its pieces in separate event loop phases, as a pipe may. */
function makeStream(pieces: readonly string[]): Readable {
  async function* inPhases() {
    for (const piece of pieces) yield Buffer.from(piece)
  }
  return Readable.from(inPhases())
}
