import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTarGz } from '../../../scripts/release/tar.ts'
import { makeZip } from '../../../scripts/release/zip.ts'
import { toUpHost } from '../../../src/up/host.ts'
import type { Npm } from '../../../src/up/packages/npm.ts'
import type { UpdateSource } from '../../../src/up/self/candidate.ts'
import { ownProgram, rollBack, updateProgram } from '../../../src/up/self/update.ts'
import { scriptProgram } from '../../support/script-program.ts'
import { mountReadOnly, mountSmallDisk } from '../../support/small-disk.ts'
import { makeTree } from '../../support/trees.ts'

const { signal } = new AbortController()
const HOST = toUpHost({ env: process.env, pid: process.pid, uid: 0, homeDir: homedir() })

test('updateProgram() switches to the program of a file, and keeps the previous one', async () => {
  await using box = await makeBox()
  const inode = statSync(box.program).ino
  const update = await box.update({
    file: box.put('new', scriptProgram('2.0.0')),
    sha256: checksum(scriptProgram('2.0.0')),
  })
  assert.deepEqual(update, { from: '1.0.0', to: '2.0.0', outcome: 'updated', previous: box.old })
  assert.equal(readFileSync(box.program, 'utf8'), scriptProgram('2.0.0'))
  assert.equal(readFileSync(box.old, 'utf8'), scriptProgram('1.0.0'))
  assert.notEqual(statSync(box.program).ino, inode, 'what runs keeps its file')
  assert.equal(statSync(box.program).mode & 0o777, 0o755)
  assert.deepEqual(box.beside(), ['crabtalk', 'crabtalk.old'])
})

test('updateProgram() finds the program in archives of every kind, by the checksum next to them', async () => {
  const bytes = Buffer.from(scriptProgram('2.0.0'))
  const entries = [
    { path: 'crabtalk-2/a/completions/crabtalk', bytes: Buffer.from('not this') },
    { path: 'crabtalk-2/share/crabtalk.1', bytes: Buffer.from('not this') },
    { path: 'crabtalk-2/bin/crabtalk', bytes, executable: true },
  ]
  const archives = {
    'a.tar.gz': makeTarGz(entries),
    'a.tgz': makeTarGz(entries),
    'a.zip': makeZip(entries),
    crabtalk: bytes,
  }
  for (const [name, archive] of Object.entries(archives)) {
    await using box = await makeBox()
    const file = box.put(name, archive)
    box.put(
      name === 'a.zip' ? 'a.zip.sha256' : 'SHA256SUMS',
      `${'0'.repeat(64)}  other\n${checksum(archive)} *${name}\n`,
    )
    assert.equal((await box.update({ file })).to, '2.0.0', name)
    assert.equal(readFileSync(box.program, 'utf8'), scriptProgram('2.0.0'), name)
  }
})

test('updateProgram() changes nothing when the new program is not valid', async () => {
  await using box = await makeBox()
  const good = box.put('good', scriptProgram('2.0.0'))
  const cut = makeTarGz([{ path: 'bin/crabtalk', bytes: Buffer.alloc(9000, 'x') }]).subarray(0, 40)
  const sources: [source: UpdateSource, message: RegExp][] = [
    [{ file: good }, /its checksum is unknown$/],
    [{ file: good, sha256: checksum('other') }, /its checksum does not match --sha256$/],
    [{ file: good, sha256: 'abc' }, /it is not 64 hexadecimal digits$/],
    [{ file: box.path('none'), sha256: checksum('') }, /^Cannot read .*none: it does not exist$/],
    [{ file: box.path('.'), sha256: checksum('') }, /^Cannot read .*: it is a folder$/],
    [box.summed('cut.tgz', cut), /^Cannot read cut\.tgz: it is damaged$/],
    [box.summed('empty.tgz', makeTarGz([])), /it does not contain crabtalk$/],
    [
      box.summed('broken', '#!/bin/sh\necho "no library" >&2\nexit 127\n'),
      /it does not start here: no library$/,
    ],
    [box.summed('foreign', OTHER_MACHINE), /: it is for (darwin-arm64|win32-x64), and this is \w+-\w+$/],
    [box.summed('other', '#!/bin/sh\necho something 1.0\n'), /it does not start here: it ends with 0$/],
    [
      box.summed('stub', '#!/bin/sh\necho crabtalk 2.0.0\n'),
      /: the file is damaged: "config check --json" fails: it does not print a JSON list$/,
    ],
    [
      box.summed(
        'half',
        scriptProgram('2.0.0').replace(
          "echo '[{",
          "echo 'crabup: error[internal]: no pack' >&2; exit 70; echo '[{",
        ),
      ),
      /"--as-crabup list --json" fails: crabup: error\[internal\]: no pack$/,
    ],
    [
      { ...box.summed('old', scriptProgram('1.5.0')), version: '2.0.0' },
      /Cannot update to 2\.0\.0: the downloaded program is 1\.5\.0$/,
    ],
  ]
  for (const [source, message] of sources) {
    await assert.rejects(box.update(source), { name: 'CrabError', message })
    assert.deepEqual(box.beside(), ['crabtalk'])
    assert.equal(readFileSync(box.program, 'utf8'), scriptProgram('1.0.0'))
  }
})

test('updateProgram() changes nothing for the same program, or when it is cancelled', async () => {
  await using box = await makeBox()
  const same = await box.update(box.summed('same', scriptProgram('1.0.0')))
  assert.deepEqual(same, { from: '1.0.0', to: '1.0.0', outcome: 'same', previous: undefined })
  const stop = new AbortController()
  const endless = box.summed('endless', '#!/bin/sh\nkill -USR1 $PPID\nexec sleep 60\n')
  process.once('SIGUSR1', () => stop.abort())
  await assert.rejects(box.update(endless, stop.signal), { kind: 'cancelled' })
  assert.deepEqual(box.beside(), ['crabtalk'])
})

test('updateProgram() removes old leftovers of killed updates', async () => {
  await using box = await makeBox()
  const [stale, fresh] = ['01OLD', '01NEW'].map((id) => join(box.folder, `.crabtalk-${id}.new`)) as [
    string,
    string,
  ]
  for (const path of [stale, fresh]) writeFileSync(path, '')
  utimesSync(stale, new Date(0), new Date(0))
  await box.update(box.summed('new', scriptProgram('2.0.0')))
  assert.deepEqual([existsSync(stale), existsSync(fresh)], [false, true])
})

test('updateProgram() says why it cannot write, and keeps the program', async (t) => {
  await using box = await makeBox()
  const source = box.summed('new', scriptProgram('2.0.0') + '#'.repeat(300_000))
  using readOnly = mountReadOnly(box.folder)
  using small = mountSmallDisk(64)
  if (!readOnly || !small) return t.diagnostic('this user may not mount anything')
  writeFileSync(join(small.path, 'crabtalk'), scriptProgram('1.0.0'), { mode: 0o755 })
  const places = [
    [readOnly.path, { kind: 'credentials', message: /you have no write permission in / }],
    [
      small.path,
      { kind: 'storage', message: /the disk is full$/, hint: /free some space on the disk of \// },
    ],
  ] as const
  for (const [folder, error] of places) {
    await assert.rejects(box.update(source, signal, join(folder, 'crabtalk')), error)
    assert.deepEqual(readdirSync(folder), ['crabtalk'])
    assert.equal(readFileSync(join(folder, 'crabtalk'), 'utf8'), scriptProgram('1.0.0'))
  }
})

test('updateProgram() fetches from the registry only what is newer', async () => {
  await using box = await makeBox()
  const requests: string[] = []
  const npm = (version: string): Npm => ({
    async view(spec) {
      requests.push(`view ${spec}`)
      return { version }
    },
    async pack(spec, folder) {
      requests.push(`pack ${spec}`)
      const path = join(folder, 'made.tgz')
      writeFileSync(
        path,
        makeTarGz([{ path: 'package/bin/crabtalk', bytes: Buffer.from(scriptProgram(version)) }]),
      )
      return path
    },
    install: () => assert.fail('nothing is installed'),
  })
  const own = { path: box.program, version: '1.0.0' }
  const name = `crabtalk-${process.platform}-${process.arch}`
  const same = await updateProgram(own, {}, { host: HOST, npm: async () => npm('1.0.0') }, signal)
  assert.deepEqual([same.outcome, requests.splice(0)], ['same', [`view ${name}@latest`]])
  const older = await updateProgram(own, {}, { host: HOST, npm: async () => npm('1.0.0-rc.1') }, signal)
  assert.deepEqual([older.outcome, requests.splice(0)], ['same', [`view ${name}@latest`]])
  const newer = await updateProgram(
    own,
    { version: '2.0.0' },
    { host: HOST, npm: async () => npm('2.0.0') },
    signal,
  )
  assert.deepEqual([newer.to, requests], ['2.0.0', [`view ${name}@2.0.0`, `pack ${name}@2.0.0`]])
  assert.equal(readFileSync(box.program, 'utf8'), scriptProgram('2.0.0'))
})

test('rollBack() restores the previous program, and goes forward again', async () => {
  await using box = await makeBox()
  const own = { path: box.program, version: '1.0.0' }
  await assert.rejects(rollBack(own, HOST, signal), {
    kind: 'missing',
    message: /^Cannot roll back: .+ does not exist$/,
  })
  await box.update(box.summed('new', scriptProgram('2.0.0')))
  assert.equal((await rollBack({ ...own, version: '2.0.0' }, HOST, signal)).to, '1.0.0')
  assert.deepEqual(
    [readFileSync(box.program, 'utf8'), readFileSync(box.old, 'utf8')],
    [scriptProgram('1.0.0'), scriptProgram('2.0.0')],
  )
  assert.equal((await rollBack(own, HOST, signal)).to, '2.0.0')
  assert.deepEqual(box.beside(), ['crabtalk', 'crabtalk.old'])
})

test('ownProgram() of the old program is the one next to it, which rollBack() replaces', async () => {
  await using box = await makeBox()
  await box.update(box.summed('new', scriptProgram('2.0.0')))
  writeFileSync(box.program, 'damaged meanwhile')
  const own = await ownProgram({ path: box.old, version: '1.0.0' }, HOST, signal)
  assert.deepEqual(own, { path: box.program, version: 'unknown' })
  assert.equal((await rollBack(own, HOST, signal)).to, '1.0.0')
  assert.equal(readFileSync(box.program, 'utf8'), scriptProgram('1.0.0'))
  assert.equal(readFileSync(box.old, 'utf8'), 'damaged meanwhile')
  await assert.rejects(rollBack(own, HOST, signal), /it does not start here/)
  assert.equal(readFileSync(box.program, 'utf8'), scriptProgram('1.0.0'))
  rmSync(box.program)
  writeFileSync(box.old, scriptProgram('1.0.0'))
  assert.equal((await rollBack(own, HOST, signal)).to, '1.0.0')
  assert.deepEqual(box.beside(), ['crabtalk', 'crabtalk.old'])
})

test('concurrent updateProgram() calls leave one complete program', async () => {
  await using box = await makeBox()
  const versions = ['2.0.0', '3.0.0', '4.0.0']
  const sources = versions.map((version) => box.summed(version, scriptProgram(version)))
  await Promise.all(sources.map((source) => box.update(source)))
  assert.ok(versions.map(scriptProgram).includes(readFileSync(box.program, 'utf8')))
  assert.deepEqual(box.beside(), ['crabtalk', 'crabtalk.old'])
})

/** The start of a program for another kind of machine. */
const OTHER_MACHINE =
  process.platform === 'darwin'
    ? Buffer.from(`MZ${'\0'.repeat(58)}@\0\0\0PE\0\0\x64\x86`, 'latin1')
    : Buffer.from('\xcf\xfa\xed\xfe\x0c\0\0\x01', 'latin1')

function checksum(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Creates a folder with a program of version 1.0.0, and functions that write others. */
async function makeBox() {
  const tree = await makeTree({ 'bin/crabtalk': scriptProgram('1.0.0'), 'files/': '' })
  const [folder, program] = [tree.path('bin'), tree.path('bin/crabtalk')]
  chmodSync(program, 0o755)
  const put = (name: string, bytes: string | Uint8Array) => {
    writeFileSync(tree.path(`files/${name}`), bytes)
    return tree.path(`files/${name}`)
  }
  return {
    folder,
    program,
    old: join(folder, 'crabtalk.old'),
    path: (name: string) => tree.path(`files/${name}`),
    put,
    summed: (name: string, bytes: string | Uint8Array) => ({
      file: put(name, bytes),
      sha256: checksum(bytes),
    }),
    beside: () => readdirSync(folder).toSorted(),
    update: (source: UpdateSource, stop = signal, path = program) => {
      const npm = () => assert.fail('the registry is not asked')
      return updateProgram({ path, version: '1.0.0' }, source, { host: HOST, npm }, stop)
    },
    [Symbol.asyncDispose]: () => tree[Symbol.asyncDispose](),
  }
}
