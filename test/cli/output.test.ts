import assert from 'node:assert/strict'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { Output } from '../../src/cli/output.ts'
import { type Fifo, openFifo } from '../support/fifo.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { until } from '../support/until.ts'

const BIG = 'ä0123456789\n'.repeat(40_000)

test('Output.write() prints everything in order, however writes and waits are mixed', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'out')
  const fd = openSync(path, 'a')
  const output = new Output(fd, () => false)
  const step = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('tick' as const, 'flush' as const, 'turn' as const, BIG),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { size } = fstatSync(fd)
      let expected = ''
      for (const what of steps) {
        if (what === 'tick') await Promise.resolve()
        else if (what === 'flush') await output.flush()
        else if (what === 'turn') await new Promise((resolve) => setImmediate(resolve))
        else {
          expected += what
          output.write(what)
        }
      }
      await output.flush()
      assert.ok(readFileSync(path).toString('utf8', size) === expected)
    }),
    { numRuns: propertyRuns(250, 50) },
  )
  closeSync(fd)
})

test('Output.write() asks its caller to wait only when much is pending for a slow reader', async () => {
  using fifo = openFifo()
  const output = new Output(fifo.input, () => false)
  assert.equal(output.write('first'), undefined)
  output.write(BIG)
  const wait = output.write('last')
  assert.ok(wait instanceof Promise)
  let isOut = false
  const out = wait.then(() => {
    isOut = true
  })
  await until('the pipe is full', async () => (await fifo.take()).length > 0)
  assert.equal(isOut, false)
  await readUntilOut(fifo, () => isOut)
  await out
  assert.equal(output.write('more'), undefined)
  await output.flush()
})

for (const nonBlocking of [false, true]) {
  test(`Output keeps every byte in a full ${nonBlocking ? 'non-blocking' : 'blocking'} pipe, and does not block the event loop`, async () => {
    using fifo = openFifo({ nonBlocking })
    const output = new Output(fifo.input, () => false)
    output.write(BIG)
    output.write(BIG)
    await new Promise((resolve) => setImmediate(resolve)) // does not return from a write that blocks
    let isOut = false
    const out = output.flush().then(() => {
      isOut = true
    })
    const bytes = await readUntilOut(fifo, () => isOut)
    await out
    assert.ok(bytes.toString() === BIG + BIG)
  })
}

test('Output reports once that its reader has gone, and discards the rest without a failure', async () => {
  using fifo = openFifo()
  const output = new Output(fifo.input, () => false)
  let calls = 0
  output.onClosed = () => {
    calls++
  }
  fifo.hangUp()
  output.write('a')
  output.write('b')
  await output.flush()
  assert.equal(output.write(BIG), undefined)
  await output.flush()
  assert.equal(calls, 1)
})

test('Output reports that its reader goes away while it waits', async () => {
  using fifo = openFifo()
  const output = new Output(fifo.input, () => false)
  const closed = new Promise<void>((resolve) => {
    output.onClosed = resolve
  })
  output.write(BIG)
  await until('the pipe is full', async () => (await fifo.take()).length > 0)
  fifo.hangUp()
  await closed
  await output.flush()
})

test('Output fails with `storage` when its target is full or rejects writes', async () => {
  const full = openSync('/dev/full', 'w')
  const output = new Output(full, () => false)
  output.write('text')
  await assert.rejects(output.flush(), {
    name: 'CrabError',
    kind: 'storage',
    message: /ENOSPC|no space left/,
  })
  assert.equal(output.write(BIG), undefined)
  closeSync(full)
  const readOnly = openSync('/dev/null', 'r')
  const deaf = new Output(readOnly, () => false)
  deaf.write('text')
  await assert.rejects(deaf.flush(), { kind: 'storage' })
  closeSync(readOnly)
})

test('Output.flush() resolves immediately when nothing was printed', async () => {
  const output = new Output(-1, () => false)
  assert.equal(output.write(''), undefined)
  await output.flush()
})

async function readUntilOut(fifo: Fifo, isOut: () => boolean): Promise<Buffer> {
  const pieces: Buffer[] = []
  await until('everything is out', async () => {
    for (;;) {
      const piece = await fifo.take()
      if (piece.length === 0) return isOut()
      pieces.push(piece)
    }
  })
  return Buffer.concat(pieces)
}

test('Output.hold() holds back output until every hold is released, and never asks to wait', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'out')
  const fd = openSync(path, 'a')
  const output = new Output(fd, () => false)
  output.write('before ')
  const first = output.hold()
  const second = output.hold()
  assert.equal(output.write(BIG), undefined)
  await output.flush()
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  await output.flush()
  const held = readFileSync(path, 'utf8')
  second[Symbol.dispose]()
  output.write('after')
  await output.flush()
  closeSync(fd)
  assert.ok(held === 'before ' || held === '') // a write that was in progress before the hold may be pending too
  assert.equal(readFileSync(path, 'utf8'), `before ${BIG}after`)
})
