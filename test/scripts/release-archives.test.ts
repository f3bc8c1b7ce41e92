import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import { makeArchive } from '../../scripts/release/archive.ts'
import type { Entry } from '../../scripts/release/file-tree.ts'
import { makeTarGz } from '../../scripts/release/tar.ts'
import { TARGETS } from '../../scripts/release/targets.ts'
import { makeZip } from '../../scripts/release/zip.ts'
import { extractProgram } from '../../src/up/self/archive.ts'
import { makeTree } from '../support/trees.ts'

const PROGRAM = Buffer.from('the program '.repeat(1000))
const ENTRIES: readonly Entry[] = [
  { path: 'a/share/ü.txt', bytes: Buffer.from('') },
  { path: 'a/bin/crabtalk', bytes: PROGRAM, executable: true },
  { path: 'a/bin/crabup', link: 'crabtalk' },
]

test('makeTarGz() creates an archive that tar unpacks with contents, modes and links', async () => {
  await using tree = await makeTree({ 'made.tar.gz': makeTarGz(ENTRIES) })
  execFileSync('tar', ['-xzf', tree.path('made.tar.gz'), '-C', tree.root])
  assert.deepEqual(readFileSync(tree.path('a/bin/crabtalk')), PROGRAM)
  assert.equal(statSync(tree.path('a/bin/crabtalk')).mode & 0o777, 0o755)
  assert.equal(readlinkSync(tree.path('a/bin/crabup')), 'crabtalk')
  assert.equal(lstatSync(tree.path('a/share/ü.txt')).size, 0)
  assert.equal(statSync(tree.path('a/share/ü.txt')).mode & 0o777, 0o644)
})

test('makeTarGz() and makeZip() write the same bytes for the same files in any order', () => {
  assert.ok(makeTarGz(ENTRIES).equals(makeTarGz(ENTRIES.toReversed())))
  const files = ENTRIES.filter((entry) => 'bytes' in entry)
  assert.ok(makeZip(files).equals(makeZip(files.toReversed())))
})

test('makeTarGz() rejects a name that is too long, makeZip() a link', () => {
  assert.throws(() => makeTarGz([{ path: 'x'.repeat(101), bytes: PROGRAM }]), /too long/)
  assert.throws(() => makeZip(ENTRIES), /the link a\/bin\/crabup/)
})

test('makeZip() lists every file in its index, with checksum, sizes and offset', () => {
  const zip = makeZip(ENTRIES.filter((entry) => 'bytes' in entry))
  const end = zip.length - 22
  assert.deepEqual([zip.readUInt32LE(end), zip.readUInt16LE(end + 10)], [0x06054b50, 2])
  let at = zip.readUInt32LE(end + 16)
  const found = Array.from({ length: 2 }, () => {
    const [crc, packed, size, local] = [16, 20, 24, 42].map((offset) =>
      zip.readUInt32LE(at + offset),
    ) as number[]
    const nameLength = zip.readUInt16LE(at + 28)
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    assert.equal(zip.readUInt32LE(local!), 0x04034b50)
    assert.equal(zip.toString('utf8', local! + 30, local! + 30 + nameLength), name)
    const bytes = inflateRawSync(zip.subarray(local! + 30 + nameLength, local! + 30 + nameLength + packed!))
    assert.deepEqual([bytes.length, crc32(bytes)], [size, crc])
    at += 46 + nameLength
    return name
  })
  assert.deepEqual([found, at], [['a/bin/crabtalk', 'a/share/ü.txt'], end])
})

test('makeArchive() puts program, crabup and documents of every platform into one folder', async () => {
  await using tree = await makeTree({
    'crabup.cmd': '@',
    'THIRD-PARTY-NOTICES': 'notices',
    'sbom.cdx.json': '{}',
  })
  const shared = [
    'share/doc/crabtalk/LICENSE',
    'share/man/man1/crabtalk.1',
    'share/crabtalk/completions/crabup.ps1',
  ]
  for (const target of TARGETS) {
    const binary = tree.path(target.binary)
    await writeFile(binary, PROGRAM)
    const entries = shared.map((path) => ({ path, bytes: Buffer.from(path) }))
    const { name, bytes } = await makeArchive(target, { binary, version: '1.2.3', shared: entries })
    const isWindows = target.os === 'win32'
    assert.equal(name, `crabtalk-1.2.3-${target.name}.${isWindows ? 'zip' : 'tar.gz'}`)
    assert.deepEqual(await extractProgram(bytes, name), PROGRAM)
    for (const file of ['THIRD-PARTY-NOTICES', 'sbom.cdx.json']) {
      const path = `crabtalk-1.2.3-${target.name}/share/doc/crabtalk/${file}`
      assert.ok((isWindows ? bytes : gunzipSync(bytes)).includes(path), path)
    }
    if (isWindows) continue
    await writeFile(tree.path(name), bytes)
    await mkdir(tree.path(target.name))
    execFileSync('tar', ['-xzf', tree.path(name), '-C', tree.path(target.name), '--strip-components=1'])
    assert.deepEqual(readFileSync(tree.path(`${target.name}/bin/crabup`)), PROGRAM)
    assert.ok(statSync(tree.path(`${target.name}/share/man/man1/crabtalk.1`)).isFile())
  }
})
