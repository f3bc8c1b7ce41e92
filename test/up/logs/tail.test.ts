import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { readLastLogLines } from '../../../src/up/logs/tail.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('readLastLogLines() returns the last whole lines, what follows them, and where they end', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'x.log')
  const line = fc.oneof(fc.string({ maxLength: 20 }), fc.constant('é'.repeat(50_000))).map((text) => {
    return text.replaceAll('\n', ' ')
  })
  const texts = fc.record({ lines: fc.array(line, { maxLength: 12 }), rest: line, most: fc.nat(14) })
  await fc.assert(
    fc.asyncProperty(texts, async ({ lines, rest, most }) => {
      const text = lines.map((one) => `${one}\n`).join('')
      await writeFile(path, text + rest)
      const read = (await readLastLogLines(path, most))!
      assert.deepEqual(read.lines, most === 0 ? [] : lines.slice(-most))
      assert.equal(read.to.offset, Buffer.byteLength(text))
      if (most > 0) assert.equal(read.rest, rest)
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

test('readLastLogLines() returns nothing for a missing file', async () => {
  assert.equal(await readLastLogLines('/nowhere/x.log', 3), undefined)
})
