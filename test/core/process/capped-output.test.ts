import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { CappedOutput } from '../../../src/core/process/capped-output.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'

test('CappedOutput returns short output unchanged, and writes no file', async () => {
  await using box = await openBox()
  const { text, droppedBytes, spillPath } = await box.show(['häl', 'lo\n', '😀'], { capBytes: 11 })
  assert.deepEqual(
    { text, droppedBytes, spillPath },
    { text: 'hällo\n😀', droppedBytes: 0, spillPath: undefined },
  )
  assert.deepEqual(await readdir(box.path), [])
})

test('CappedOutput keeps head and tail of long output, and all of it in a file', async () => {
  await using box = await openBox()
  const shown = await box.show(['aaaa\n', 'bbbb\n', 'cccc\n', 'dddd\n'], { capBytes: 10 })
  assert.equal(
    shown.text,
    `aaaa\n[10 bytes are left out here; the whole output is in ${shown.spillPath}]\ndddd\n`,
  )
  assert.equal(shown.droppedBytes, 10)
  assert.equal(await readFile(shown.spillPath!, 'utf8'), 'aaaa\nbbbb\ncccc\ndddd\n')
})

test('CappedOutput writes private files', async () => {
  await using box = await openBox()
  const { spillPath } = await box.show(['x'.repeat(100)], { capBytes: 10 })
  assert.equal((await stat(spillPath!)).mode & 0o777, 0o600)
  assert.equal((await stat(join(spillPath!, '..'))).mode & 0o777, 0o700)
})

test('CappedOutput stops writing at its limit, and says so', async () => {
  await using box = await openBox()
  const shown = await box.show(['x'.repeat(30), 'y'.repeat(30)], { capBytes: 10, maxSpillBytes: 40 })
  assert.equal(
    shown.text,
    `xxxxx\n[50 bytes are left out here; the first 40 bytes of the output are in ${shown.spillPath}]\nyyyyy`,
  )
  assert.equal(await readFile(shown.spillPath!, 'utf8'), 'x'.repeat(30) + 'y'.repeat(10))
})

test('CappedOutput says why there is no file, and leaves no part of one', async (context) => {
  await using box = await openBox()
  await writeFile(join(box.path, 'taken'), '')
  const blocked = await box.show(['x'.repeat(30)], { capBytes: 10, folder: 'taken/spill' })
  assert.match(blocked.text, /^xxxxx\n\[20 bytes are left out here and not kept. Cannot create .+\]\nxxxxx$/)
  assert.equal(blocked.spillPath, undefined)
  using disk = mountSmallDisk(64)
  if (disk === undefined) return context.diagnostic('this user may not mount a disk to fill')
  const full = await show(disk.path, ['x'.repeat(30), 'y'.repeat(100_000), 'z'.repeat(30)], { capBytes: 10 })
  assert.match(full.text, / and not kept. Cannot write .+: the disk is full\]\nzzzzz$/)
  assert.deepEqual(await readdir(join(disk.path, 'spill')), [])
})

test('CappedOutput shows whole characters of any output, and counts every byte', async () => {
  await using box = await openBox()
  const pieces = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      pieces,
      fc.integer({ min: 8, max: 100 }),
      fc.integer({ min: 1, max: 9 }),
      async (texts, capBytes, size) => {
        const whole = Buffer.from(texts.join(''))
        const cut = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
          whole.subarray(at * size, (at + 1) * size),
        )
        const { text, droppedBytes, spillPath } = await box.show(cut, { capBytes })
        assert.equal(droppedBytes > 0, whole.length > capBytes)
        if (spillPath === undefined) return assert.equal(text, whole.toString())
        assert.deepEqual(await readFile(spillPath), whole)
        const [, head, tail] =
          /^(.*?)\n?\[\d+ bytes are left out here; the whole output is in [^\]]+\]\n(.*)$/s.exec(text)!
        assert.ok(whole.toString().startsWith(head!) && whole.toString().endsWith(tail!))
        const shown = Buffer.byteLength(head!) + Buffer.byteLength(tail!)
        assert.ok(shown <= capBytes && shown > capBytes - 8)
      },
    ),
    { numRuns: propertyRuns(200) },
  )
})

test('CappedOutput accepts bytes that are not text', async () => {
  await using box = await openBox()
  const shown = await box.show([Buffer.alloc(50, 0x80)], { capBytes: 20 })
  assert.match(shown.text, /^\ufffd+\n\[\d+ bytes .+\]\n\ufffd+$/)
  assert.deepEqual(await readFile(shown.spillPath!), Buffer.alloc(50, 0x80))
})

interface Limits {
  capBytes: number
  maxSpillBytes?: number
  folder?: string
}

async function show(path: string, pieces: (string | Uint8Array)[], limits: Limits) {
  const { capBytes, maxSpillBytes = 1_000_000, folder = 'spill' } = limits
  const output = new CappedOutput({ capBytes, maxSpillBytes, spillFolder: join(path, folder) })
  for (const piece of pieces) await output.add(Buffer.from(piece))
  return await output.finish()
}

async function openBox() {
  const { path, remove } = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  return {
    path,
    show: (pieces: (string | Uint8Array)[], limits: Limits) => show(path, pieces, limits),
    [Symbol.asyncDispose]: remove,
  }
}
