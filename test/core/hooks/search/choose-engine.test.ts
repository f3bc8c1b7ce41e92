import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { chmod, symlink } from 'node:fs/promises'
import { relative } from 'node:path'
import { after, test } from 'node:test'
import { installedRipgrep } from '../../../../bin/ripgrep.ts'
import { chooseEngine } from '../../../../src/core/hooks/search/choose-engine.ts'
import { openProcessHost } from '../../../../src/core/process/process-host.ts'
import { livingWith } from '../../../support/orphans.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const processes = openProcessHost({ pid: process.pid })
after(() => processes[Symbol.asyncDispose]())
const installed = installedRipgrep(import.meta.filename)!

test('chooseEngine() prefers the bundled ripgrep to one of the system', async () => {
  await using tree = await makeTools({
    'own/rg': script('ripgrep 15.0.0'),
    'bin/rg': script('ripgrep 14.0.0'),
  })
  assert.equal(await engineIn(tree, tree.path('own/rg')), 'ripgrep 15.0.0')
})

test('chooseEngine() uses the ripgrep on the PATH when its own is missing, broken or not executable', async () => {
  await using tree = await makeTools({
    'own/broken': '\x7fELF of another machine',
    'own/forbidden': script('ripgrep 15.0.0'),
    'own/other': script('rg 1.0, a radio guide'),
    'own/old': script('ripgrep 12.1.1'),
    'own/fails': '#!/bin/sh\necho ripgrep 15.0.0\nexit 1\n',
    'bin/rg': script('ripgrep 14.0.0'),
  })
  await chmod(tree.path('own/forbidden'), 0o600)
  for (const own of ['broken', 'forbidden', 'other', 'old', 'fails', 'none']) {
    assert.equal(await engineIn(tree, tree.path(`own/${own}`)), 'ripgrep 14.0.0', own)
  }
  assert.equal(await engineIn(tree, undefined), 'ripgrep 14.0.0')
})

test('chooseEngine() uses no program from a relative folder of the PATH', async () => {
  await using tree = await makeTools({ 'bin/rg': script('ripgrep 14.0.0') })
  const env = { PATH: `${relative('/', tree.path('bin'))}:.` }
  assert.equal(
    await searchWith(tree, chooseEngine({ processes, ripgrep: async () => undefined, env })),
    'JavaScript',
  )
})

test('chooseEngine() rejects and ends a program that does not identify itself in time', async () => {
  const hangs = `exec sleep 3607`
  const floods = `exec yes ripgrep 15.0.0`
  for (const script of [hangs, floods]) {
    await using tree = await makeTools({ 'bin/rg': `#!/bin/sh\n${script}\n` })
    const env = { PATH: `${tree.path('bin')}:/usr/bin:/bin` }
    const engine = chooseEngine({ processes, ripgrep: async () => undefined, env })
    assert.equal(await searchWith(tree, engine), 'JavaScript')
    assert.deepEqual(await livingWith(tree.path('bin')), [])
  }
})

test('chooseEngine() searches in JavaScript when there is no ripgrep', async () => {
  await using tree = await makeTools({})
  assert.equal(await engineIn(tree, undefined), 'JavaScript')
})

test('chooseEngine() checks its own ripgrep once, and not before the first search', async () => {
  await using tree = await makeTree({ a: '' })
  await symlink(installed, tree.path('rg'))
  let checks = 0
  const ripgrep = async () => {
    checks++
    return tree.path('rg')
  }
  const engine = chooseEngine({ processes, ripgrep, env: {} })
  assert.equal(checks, 0)
  const [one, other] = await Promise.all([engine(), engine()])
  assert.equal(one, other)
  assert.equal(checks, 1)
})

/** Returns a program that identifies itself, and prints its name when it should search. */
function script(version: string): string {
  return `#!/bin/sh\n[ "$1" = --version ] && echo '${version}' || printf '${version}\\0'\n`
}

/** Writes executable files with distinct marks into a folder. */
async function makeTools(files: Readonly<Record<string, string>>): Promise<Tree> {
  const tree = await makeTree({ 'bin/': '', JavaScript: randomUUID(), ...files })
  for (const name of Object.keys(files)) await chmod(tree.path(name), 0o755)
  return tree
}

function engineIn(tree: Tree, own: string | undefined): Promise<string> {
  return searchWith(
    tree,
    chooseEngine({ processes, ripgrep: async () => own, env: { PATH: `${tree.path('bin')}` } }),
  )
}

/** Returns the first result of the engine: a script gives its version, JavaScript an existing file. */
async function searchWith(tree: Tree, engine: ReturnType<typeof chooseEngine>): Promise<string> {
  const scope = {
    root: tree.root,
    folder: tree.root,
    isFile: false,
    closed: [tree.path('bin'), tree.path('own')],
    glob: undefined,
  }
  const files = await Array.fromAsync((await engine()).files(scope, new AbortController().signal))
  return files.join()
}
