import assert from 'node:assert/strict'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileLines, MAX_LINE_BYTES } from '../../../../src/core/session-search/background/session-text.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

/** Lengths around the size of one read, and around twice that size. */
const STEP = 256 * 1024

test('fileLines() returns every whole line with its position, wherever reads end', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-lines-'))
  const path = join(folder.path, 'lines')
  const length = fc.oneof(
    fc.nat(20),
    ...[STEP, 2 * STEP].map((around) => fc.integer({ min: around - 3, max: around + 3 })),
  )
  fc.assert(
    fc.property(fc.array(length, { maxLength: 6 }), fc.nat(30), fc.nat(60), (lengths, tail, skip) => {
      const content = Buffer.from(
        lengths.map((count) => `${'x'.repeat(count)}\n`).join('') + 'y'.repeat(tail),
      )
      writeFileSync(path, content)
      const from = Math.min(skip, content.length)
      assert.deepEqual(read(path, from, content.length), expected(content, from))
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

test('fileLines() skips a line that is too long, and continues after it', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-lines-'))
  const path = join(folder.path, 'lines')
  const long = MAX_LINE_BYTES + 5
  writeFileSync(path, Buffer.concat([Buffer.from('a\n'), Buffer.alloc(long, 'x'), Buffer.from('\nb\n')]))
  assert.deepEqual(read(path, 0, Infinity), [
    { text: 'a', offset: 0, end: 2 },
    { text: undefined, offset: 2, end: long + 3 },
    { text: 'b', offset: long + 3, end: long + 5 },
  ])
})

test('fileLines() ends at the given position, and at the end of the file', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-lines-'))
  const path = join(folder.path, 'lines')
  writeFileSync(path, 'a\nb\nc\n')
  assert.deepEqual(
    read(path, 2, 5).map(({ text }) => text),
    ['b'],
  )
  assert.equal(read(path, 0, 1000).length, 3)
  assert.deepEqual(read(path, 1000, 2000), [])
})

function read(path: string, from: number, to: number) {
  const fd = openSync(path, 'r')
  try {
    return Array.from(fileLines(fd, { from, to }), ({ bytes, offset, end }) => ({
      text: bytes?.toString(),
      offset,
      end,
    }))
  } finally {
    closeSync(fd)
  }
}

function expected(content: Buffer, from: number) {
  const lines = []
  for (let start = from; ; ) {
    const stop = content.indexOf('\n', start)
    if (stop === -1) return lines
    lines.push({ text: content.toString('utf8', start, stop), offset: start, end: stop + 1 })
    start = stop + 1
  }
}
