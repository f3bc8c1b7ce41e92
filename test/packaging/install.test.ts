import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import which from 'which'
import { makeTarGz } from '../../scripts/release/tar.ts'
import { scriptProgram } from '../support/script-program.ts'
import { makeTree } from '../support/trees.ts'

const SCRIPT_PATH = join(import.meta.dirname, '../../packaging/install.sh')
const SCRIPT = readFileSync(SCRIPT_PATH)
const OS = process.platform === 'darwin' ? 'darwin' : 'linux'
const TARGET = `${OS}-${process.arch}`

test('install.sh installs the archive next to it below a prefix, and says what to add to the PATH', async () => {
  await using box = await makeBox({ '1.0.0': scriptProgram('1.0.0') })
  const { code, stdout, stderr } = await box.install()
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^Installed crabtalk 1\.0\.0: .*\/bin\/crabtalk\n/)
  assert.match(stdout, /Add it to your PATH: export PATH="[^\n]*\/bin:\$PATH"\n/)
  assert.ok(stdout.endsWith(` --uninstall --prefix '${box.prefix}'\n`), stdout)
  assert.equal(readFileSync(box.at('bin/crabtalk'), 'utf8'), scriptProgram('1.0.0'))
  assert.equal(readlinkSync(box.at('bin/crabup')), 'crabtalk')
  assert.equal(readFileSync(box.at('share/man/man1/crabtalk.1'), 'utf8'), 'manual of 1.0.0')
  assert.deepEqual(readdirSync(box.prefix).toSorted(), ['bin', 'share'])
})

test('install.sh keeps the program it replaces, and no other file of the old version', async () => {
  await using box = await makeBox({ '1.0.0': scriptProgram('1.0.0') })
  await box.install()
  box.release({ '2.0.0': scriptProgram('2.0.0') })
  rmSync(box.archive('1.0.0'))
  writeFileSync(box.at('share/man/man1/other.1'), '')
  const { code, stdout } = await box.install()
  assert.equal(code, 0)
  const pages = ['crabtalk.1', 'of-2.0.0.1', 'other.1']
  assert.deepEqual(readdirSync(box.at('share/man/man1')).toSorted(), pages)
  assert.match(stdout, /The one before is bin\/crabtalk\.old/)
  assert.equal(readFileSync(box.at('bin/crabtalk'), 'utf8'), scriptProgram('2.0.0'))
  assert.equal(readFileSync(box.at('bin/crabtalk.old'), 'utf8'), scriptProgram('1.0.0'))
})

test('install.sh --uninstall removes what it installed, and nothing else', async () => {
  await using box = await makeBox({ '1.0.0': scriptProgram('1.0.0') })
  await box.install()
  await box.install()
  writeFileSync(box.at('share/man/man1/other.1'), '')
  assert.match((await box.install('--uninstall')).stdout, /^Removed crabtalk from /)
  assert.deepEqual(readdirSync(box.prefix, { recursive: true }).toSorted(), [
    'share',
    'share/man',
    'share/man/man1',
    'share/man/man1/other.1',
  ])
  const again = await box.install('--uninstall')
  assert.equal(again.code, 66)
})

test('install.sh rejects a damaged or foreign archive, or a program that does not start, and changes nothing', async () => {
  await using box = await makeBox({ '1.0.0': scriptProgram('1.0.0') })
  await box.install()
  const before = readdirSync(box.prefix, { recursive: true }).toSorted()
  const refusals: [change: () => string | undefined, code: number, message: RegExp][] = [
    [
      () => box.damage('1.0.0'),
      65,
      /crabtalk-1\.0\.0-\S+ is not the file that SHA256SUMS means; fetch it again/,
    ],
    [() => box.cut('1.0.0'), 65, /crabtalk-1\.0\.0-\S+ cannot be unpacked: /],
    [() => box.forget(), 65, /SHA256SUMS does not name/],
    [
      () => box.release({ '1.0.0': '#!/bin/sh\necho libatomic.so.1: no such file >&2; exit 127\n' }),
      69,
      /apt install libatomic1 libstdc\+\+6/,
    ],
    [
      () => box.release({ '1.0.0': '#!/bin/sh\necho no way >&2; exit 1\n' }),
      69,
      /does not start here: no way/,
    ],
    [
      () => box.release({ '1.0.0': '#!/bin/sh\necho crabtalk 1.0.0\n' }),
      69,
      /the program is damaged: `crabtalk config check --json` fails: it prints no list in JSON/,
    ],
    [
      () =>
        box.release({
          '1.0.0': scriptProgram('1.0.0').replace("echo '[{", "echo no pack >&2; exit 1; echo '[{"),
        }),
      69,
      /the program is damaged: `crabtalk --as-crabup list --json` fails: no pack/,
    ],
    [() => box.foreign(), 69, /crabtalk-1\.0\.0-plan9-mips\.tar\.gz is not for this machine, which is /],
    [() => 'nowhere.tar.gz', 66, /there is no file nowhere\.tar\.gz/],
    [() => '--fast', 2, /there is no option --fast/],
    [() => box.release({ '2.0.0': scriptProgram('2.0.0') }), 2, /several archives lie beside .*: name one/],
    [() => box.removeArchives(), 66, /there is no crabtalk-VERSION-\S+\.tar\.gz beside/],
  ]
  for (const [change, code, message] of refusals) {
    const argument = change()
    const finished = await box.install(...(argument === undefined ? [] : [argument]))
    assert.deepEqual([finished.code, finished.stdout], [code, ''], finished.stderr)
    assert.match(finished.stderr, message)
    assert.equal(finished.stderr.split('\n').length, 2, 'one line')
  }
  assert.deepEqual(readdirSync(box.prefix, { recursive: true }).toSorted(), before)
  assert.equal(readFileSync(box.at('bin/crabtalk'), 'utf8'), scriptProgram('1.0.0'))
})

test('install.sh passes shellcheck', async (t) => {
  const shellcheck = await which('shellcheck', { nothrow: true })
  if (!shellcheck) return t.skip('shellcheck is not installed')
  execFileSync(shellcheck, ['--shell=sh', SCRIPT_PATH], { encoding: 'utf8' })
})

/**
 * Creates a folder with a release, whose programs are scripts, and an empty prefix; both have a space in their
 * names.
 */
async function makeBox(programs: Readonly<Record<string, string>>) {
  const tree = await makeTree({ 'release/install.sh': SCRIPT, 'home/': '' })
  const [release, prefix] = [tree.path('release'), tree.path('prefix')]
  const nameOf = (version: string) => `crabtalk-${version}-${TARGET}.tar.gz`
  const archive = (version: string) => join(release, nameOf(version))
  const writeSums = () => {
    const names = readdirSync(release).filter((name) => name.endsWith('.tar.gz'))
    const lines = names.map((name) => `${sha256(readFileSync(join(release, name)))}  ${name}\n`)
    writeFileSync(join(release, 'SHA256SUMS'), lines.join(''))
  }
  const box = {
    prefix,
    at: (path: string) => join(prefix, path),
    archive,
    release(made: Readonly<Record<string, string>>): undefined {
      for (const [version, program] of Object.entries(made)) {
        const entries = [
          { path: 'bin/crabtalk', bytes: Buffer.from(program), executable: true },
          { path: 'bin/crabup', link: 'crabtalk' },
          { path: 'share/man/man1/crabtalk.1', bytes: Buffer.from(`manual of ${version}`) },
          { path: `share/man/man1/of-${version}.1`, bytes: Buffer.from('') },
        ].map((entry) => ({ ...entry, path: `crabtalk-${version}-${TARGET}/${entry.path}` }))
        writeFileSync(archive(version), makeTarGz(entries))
      }
      writeSums()
    },
    damage: (version: string): undefined => writeFileSync(archive(version), 'x', { flag: 'a' }) as undefined,
    cut(version: string): undefined {
      writeFileSync(archive(version), readFileSync(archive(version)).subarray(0, 100))
      writeSums()
    },
    forget: (): undefined =>
      writeFileSync(join(release, 'SHA256SUMS'), `${'0'.repeat(64)}  other\n`) as undefined,
    foreign(): string {
      const path = join(release, 'crabtalk-1.0.0-plan9-mips.tar.gz')
      writeFileSync(path, '')
      return path
    },
    removeArchives(): undefined {
      for (const name of readdirSync(release)) if (name.endsWith('.tar.gz')) rmSync(join(release, name))
    },
    install: (...args: readonly string[]) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        const argv = [join(release, 'install.sh'), '--prefix', prefix, ...args]
        const env = { PATH: process.env['PATH'], HOME: tree.path('home') }
        execFile('sh', argv, { env, cwd: tree.root }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
      }),
    async [Symbol.asyncDispose]() {
      await tree[Symbol.asyncDispose]()
      assert.ok(!existsSync(tree.root))
    },
  }
  chmodSync(join(release, 'install.sh'), 0o755)
  box.release(programs)
  return box
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
