import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectTarget, ripgrepFor } from '../../scripts/sea/ripgrep.ts'
import { makeTree } from '../support/trees.ts'

test('detectTarget() reads system and processor from an executable', async () => {
  assert.equal(await detectTarget(process.execPath), `${process.platform}-${process.arch}`)
  const heads: [target: string, head: Buffer][] = [
    ['linux-x64', head([0, '\x7fELF'], [18, 62])],
    ['linux-arm64', head([0, '\x7fELF'], [18, 183])],
    ['darwin-x64', head([0, '\xcf\xfa\xed\xfe\x07\x00\x00\x01'])],
    ['darwin-arm64', head([0, '\xcf\xfa\xed\xfe\x0c\x00\x00\x01'])],
    ['win32-x64', head([0, 'MZ'], [0x3c, 0x80], [0x80, 'PE\0\0\x64\x86'])],
    ['win32-arm64', head([0, 'MZ'], [0x3c, 0x80], [0x80, 'PE\0\0\x64\xaa'])],
  ]
  for (const [target, bytes] of heads) {
    await using tree = await makeTree({ node: bytes })
    assert.equal(await detectTarget(tree.path('node')), target)
  }
})

test('detectTarget() rejects unknown executables', async () => {
  for (const bytes of [
    head([0, '#!/bin/sh']),
    head([0, '\x7fELF'], [18, 8]),
    Buffer.from('MZ'),
    Buffer.alloc(0),
  ]) {
    await using tree = await makeTree({ node: bytes })
    await assert.rejects(detectTarget(tree.path('node')), /^Error: Cannot tell what .+ runs on$/)
  }
})

test('ripgrepFor() returns the program of a package, or nothing when it is not installed', async () => {
  await using tree = await makeTree({
    'ripgrep-linux-x64/bin/rg': 'elf',
    'ripgrep-win32-x64/bin/rg.exe': 'exe',
  })
  const found = async (target: string) => (await ripgrepFor(target, tree.root))?.toString()
  assert.deepEqual(
    [await found('linux-x64'), await found('win32-x64'), await found('linux-arm64')],
    ['elf', 'exe', undefined],
  )
})

/** Builds the beginning of a file: text, or one-byte numbers, at these offsets. */
function head(...parts: readonly [at: number, content: string | number][]): Buffer {
  const bytes = Buffer.alloc(1024)
  for (const [at, content] of parts) {
    if (typeof content === 'number') bytes[at] = content
    else bytes.write(content, at, 'latin1')
  }
  return bytes
}
