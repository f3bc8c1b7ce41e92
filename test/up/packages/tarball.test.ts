import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempDisposable, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readTarball, type TarLimits } from '../../../src/up/packages/tarball.ts'
import { writeTree } from '../../support/registry.ts'

const { signal } = new AbortController()
const ALL: TarLimits = { keeps: () => true, maxKeptBytes: 1000, maxBytes: 2 ** 20, maxFiles: 100 }
const LONG = `${'long-'.repeat(17)}name`

/** Returns one entry of a tar file with any contents. */
function entry(path: string, { type = '0', content = '' } = {}): Buffer {
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\0', 100)
  header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write('ustar\0' + '00', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512)
  body.write(content)
  return Buffer.concat([header, body])
}

async function withTarball(content: Buffer, check: (path: string) => Promise<void>): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-tar-'))
  const path = join(folder.path, 'x.tgz')
  await writeFile(path, content)
  await check(path)
}

test('readTarball() reads what tar writes in each of its formats', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-tar-'))
  const files = {
    'package/package.json': '{}',
    [`package/deep/${LONG}/${LONG}.txt`]: 'deep',
    'package/ä ß.md': 'ä',
  }
  await writeTree(folder.path, files)
  for (const format of ['ustar', 'gnu', 'pax']) {
    const path = join(folder.path, `${format}.tgz`)
    execFileSync('tar', [`--format=${format}`, '-czf', path, '-C', folder.path, 'package'])
    const read = await readTarball(path, ALL, signal)
    const texts = Object.fromEntries(read.map((file) => [`package/${file.path}`, file.content?.toString()]))
    assert.deepEqual(texts, files, format)
  }
})

test('readTarball() rejects entries outside its folder', async () => {
  const hostile: [Buffer, RegExp][] = [
    [entry('package/../../etc/passwd'), /it would write outside of its folder/],
    [entry('/etc/passwd'), /it would write outside of its folder/],
    [entry('C:/x'), /it would write outside of its folder/],
    [entry('package\\..\\x'), /it would write outside of its folder/],
    [entry('package/\u001b[2Jx'), /outside of its folder: package\/\\x1b\[2Jx$/],
    [
      Buffer.concat([entry('x', { type: 'x', content: '22 path=package/../x\n' }), entry('package/a')]),
      /outside/,
    ],
    [Buffer.concat([entry('x', { type: 'L', content: '../../x\0' }), entry('package/a')]), /outside/],
    [entry('package/link', { type: '2' }), /something other than files and folders: package\/link/],
    [entry('package/hard', { type: '1' }), /something other than files and folders/],
    [entry('package/device', { type: '3' }), /something other than files and folders/],
  ]
  for (const [content, message] of hostile) {
    await withTarball(gzipSync(content), async (path) => {
      await assert.rejects(readTarball(path, ALL, signal), { kind: 'invalid', message })
    })
  }
})

test('readTarball() lists links where they are allowed, and reads nothing from them', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-tar-'))
  await writeTree(folder.path, { 'package/a': 'a' })
  await symlink('/etc/passwd', join(folder.path, 'package/b'))
  const path = join(folder.path, 'x.tar')
  execFileSync('tar', ['-cf', path, '-C', folder.path, 'package'])
  const files = await readTarball(path, { ...ALL, letsSpecial: true }, signal)
  assert.deepEqual(files.map((file) => [file.path, file.isSpecial ?? false]).toSorted(), [
    ['a', false],
    ['b', true],
  ])
})

test('readTarball() rejects archives that are damaged, truncated, or too large', async () => {
  const whole = gzipSync(
    Buffer.concat([entry('package/a', { content: 'a'.repeat(900) }), Buffer.alloc(1024)]),
  )
  const bad: [Buffer, Partial<TarLimits>, RegExp][] = [
    [Buffer.from('no gzip'), {}, /it is not a complete gzip file/],
    [whole.subarray(0, whole.length - 12), {}, /it is not a complete gzip file/],
    [gzipSync(Buffer.alloc(512, 7)), {}, /it is not a tar file/],
    [gzipSync(gunzipSync(whole).subarray(0, 700)), {}, /it is truncated/],
    [whole, { maxKeptBytes: 10 }, /a has more than 10 bytes/],
    [whole, { maxBytes: 100 }, /it is too large when unpacked/],
    [gzipSync(Buffer.alloc(8 * 2 ** 20)), {}, /it is too large when unpacked/],
    [whole, { maxFiles: 0 }, /it has too many files/],
    [gzipSync(entry('x', { type: 'x', content: 'y'.repeat(70_000) })), {}, /it has a path that is too long/],
  ]
  for (const [content, limits, message] of bad) {
    await withTarball(content, async (path) => {
      await assert.rejects(readTarball(path, { ...ALL, ...limits }, signal), { kind: 'invalid', message })
    })
  }
})
