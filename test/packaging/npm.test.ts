import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Manifest, mainPackage, platformPackage } from '../../scripts/release/npm.ts'
import { TARGETS } from '../../scripts/release/targets.ts'
import { makeTree } from '../support/trees.ts'

const MANIFEST: Manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
const OWN = TARGETS.find(({ os, cpu }) => os === process.platform && cpu === process.arch)

/** The files that a build puts next to a program. */
const NOTICES = { 'THIRD-PARTY-NOTICES': 'notices of the program', 'sbom.cdx.json': '{}' }

/** A program that prints how it was started, and ends in the requested way. */
const PROGRAM = `#!/bin/sh
case $1 in
  --version) echo "crabtalk 9.9.9" ;;
  sleep) echo ready; exec sleep 60 ;;
  *) printf '%s|' "$@"; cat; exit 7 ;;
esac
`

test('mainPackage() names a package of its own version for every platform, and contains no sources', async () => {
  await using box = await makeBox()
  const json = JSON.parse(readFileSync(box.at('crabtalk/package.json'), 'utf8'))
  const packages = TARGETS.map(({ name }) => [`crabtalk-${name}`, MANIFEST.version])
  assert.deepEqual(json.optionalDependencies, Object.fromEntries(packages))
  assert.doesNotMatch(JSON.stringify(json.exports), /"\.\/src/)
  for (const entry of Object.keys(MANIFEST.exports)) assert.ok(entry in json.exports, entry)
  assert.equal(readFileSync(box.at('crabtalk/dist/lib/client.js'), 'utf8'), 'export const a = 1')
  assert.equal(readFileSync(box.at('crabtalk/THIRD-PARTY-NOTICES'), 'utf8'), 'notices of the entries')
  assert.equal(readFileSync(box.at('crabtalk/sbom.cdx.json'), 'utf8'), '{}')
})

test('platformPackage() is for its own platform only', async () => {
  for (const target of TARGETS) {
    await using tree = await makeTree({ [target.binary]: PROGRAM, ...NOTICES })
    const { name, bytes } = await platformPackage(target, {
      binary: tree.path(target.binary),
      manifest: MANIFEST,
    })
    assert.equal(name, `crabtalk-${target.name}-${MANIFEST.version}.tgz`)
    writeFileSync(tree.path(name), bytes)
    execFileSync('tar', ['-xzf', tree.path(name), '-C', tree.root])
    const { os, cpu, libc } = JSON.parse(readFileSync(tree.path('package/package.json'), 'utf8'))
    assert.deepEqual(
      [os, cpu, libc],
      [[target.os], [target.cpu], target.os === 'linux' ? ['glibc'] : undefined],
    )
    assert.equal(readFileSync(tree.path(`package/bin/${target.binary}`), 'utf8'), PROGRAM)
    for (const [file, text] of Object.entries(NOTICES)) {
      assert.equal(readFileSync(tree.path(`package/${file}`), 'utf8'), text)
    }
  }
})

test('the launcher passes arguments, input and exit code through', async () => {
  await using box = await makeBox()
  for (const options of [[], ['--import', box.withoutExecve]]) {
    const finished = await box.node([...options, box.at('.bin/crabtalk'), 'a b', '--', ''], 'from stdin')
    assert.deepEqual(finished, { code: 7, stdout: 'a b|--||from stdin', stderr: '' })
  }
})

test('the launcher ends with the program, by the same signal', async () => {
  await using box = await makeBox()
  const args = ['--import', box.withoutExecve, box.at('.bin/crabtalk'), 'sleep']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM'])
})

test('the launcher prints one line that names the missing package', async () => {
  await using box = await makeBox({ isComplete: false })
  const { code, stdout, stderr } = await box.node([box.at('.bin/crabtalk')])
  assert.deepEqual([code, stdout], [69, ''])
  assert.match(
    stderr,
    /^crabtalk: error: Cannot start crabtalk: the package crabtalk-\S+ is missing: install [^\n]*\n$/,
  )
})

test('install.cjs replaces the launcher with the program, for npm only', async () => {
  await using box = await makeBox()
  const before = readFileSync(box.at('crabtalk/bin/crabtalk'), 'utf8')
  const install = (agent: string) =>
    box.node([box.at('crabtalk/bin/install.cjs')], '', { npm_config_user_agent: agent })
  assert.equal((await install('pnpm/10.0.0 npm/? node/v26')).code, 0)
  assert.equal(readFileSync(box.at('crabtalk/bin/crabtalk'), 'utf8'), before)
  assert.equal((await install('npm/11.0.0 node/v26')).code, 0)
  assert.equal(readFileSync(box.at('crabtalk/bin/crabtalk'), 'utf8'), PROGRAM)
  assert.equal(readlinkSync(box.at('crabtalk/bin/crabup')), 'crabtalk')
  assert.equal(execFileSync(box.at('.bin/crabup'), ['--version'], { encoding: 'utf8' }), 'crabtalk 9.9.9\n')
})

test('install.cjs keeps the launcher when the program is missing or does not start', async () => {
  for (const program of ['#!/bin/sh\nexit 127\n', undefined]) {
    await using box = await makeBox(program === undefined ? { isComplete: false } : { program })
    const before = readFileSync(box.at('crabtalk/bin/crabtalk'), 'utf8')
    const { code, stderr } = await box.node([box.at('crabtalk/bin/install.cjs')], '', {
      npm_config_user_agent: 'npm/11',
    })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(readFileSync(box.at('crabtalk/bin/crabtalk'), 'utf8'), before)
  }
})

/** Creates a node_modules as npm does from the two packages, with a script as the program. */
async function makeBox({ isComplete = true, program = PROGRAM } = {}) {
  assert.ok(OWN, 'there is a package for this platform')
  const tree = await makeTree({
    'lib/client.js': 'export const a = 1',
    'lib/THIRD-PARTY-NOTICES': 'notices of the entries',
    'lib/sbom.cdx.json': '{}',
    'node_modules/.bin/': '',
    program,
    ...NOTICES,
  })
  const at = (name: string) => tree.path(`node_modules/${name}`)
  const unpack = (name: string, { bytes }: { bytes: Buffer }) => {
    mkdirSync(at(name))
    writeFileSync(tree.path('packed.tgz'), bytes)
    execFileSync('tar', ['-xzf', tree.path('packed.tgz'), '-C', at(name), '--strip-components=1'])
  }
  unpack('crabtalk', await mainPackage(MANIFEST, tree.path('lib')))
  chmodSync(tree.path('program'), 0o755)
  const own = await platformPackage(OWN, { binary: tree.path('program'), manifest: MANIFEST })
  if (isComplete) unpack(`crabtalk-${OWN.name}`, own)
  for (const name of ['crabtalk', 'crabup']) symlinkSync(`../crabtalk/bin/${name}`, at(`.bin/${name}`))
  const withoutExecve = tree.path('without-execve.mjs')
  writeFileSync(withoutExecve, 'process.execve = undefined')
  return {
    at,
    withoutExecve,
    node: (args: readonly string[], stdin = '', env: NodeJS.ProcessEnv = {}) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        const options = { env: { PATH: process.env['PATH'], ...env } }
        const child = execFile(process.execPath, args, options, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
        child.stdin?.end(stdin)
      }),
    [Symbol.asyncDispose]: () => tree[Symbol.asyncDispose](),
  }
}
