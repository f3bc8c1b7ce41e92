import assert from 'node:assert/strict'
import { chmod, open, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { isInside, openWorkspace, resolvePath } from '../../../src/core/policy/paths.ts'
import { type LinkTree, linkTree } from '../../support/link-tree.ts'
import { propertyRuns } from '../../support/property-runs.ts'

function resolveIn(tree: LinkTree, path: string): Promise<string> {
  return resolvePath(path, { workspace: tree.at('ws'), homeDir: tree.at('home') })
}

test('openWorkspace() returns a directory without links', async () => {
  await using tree = await linkTree([
    'ws/',
    'link -> ws',
    'chain -> link',
    'file',
    'lost -> nowhere',
    'loop -> loop',
  ])
  assert.equal(await openWorkspace(tree.at('chain')), tree.at('ws'))
  assert.equal(await openWorkspace(`${tree.at('link')}/../ws/.`), tree.at('ws'))
  const what = (path: string) => `Cannot work in ${tree.at(path)}`
  const missing = (path: string, why: string) => ({ kind: 'missing', message: `${what(path)}: ${why}` })
  await assert.rejects(openWorkspace(tree.at('none')), missing('none', 'the directory does not exist'))
  await assert.rejects(openWorkspace(tree.at('lost')), missing('lost', 'the directory does not exist'))
  await assert.rejects(openWorkspace(tree.at('file')), missing('file', 'it is not a directory'))
  await assert.rejects(openWorkspace(tree.at('file/x')), missing('file/x', 'a part of it is a file'))
  await assert.rejects(openWorkspace(tree.at('loop')), missing('loop', 'its links form a loop'))
})

test('resolvePath() returns the file that a path means', async () => {
  await using tree = await linkTree([
    'ws/a.ts',
    'ws/src/b.ts',
    'ws/.hidden',
    'ws/~',
    'ws/-x',
    'ws/a b\nc',
    'ws/caf\u00e9',
    'ws/in -> src',
    'ws/out -> ../secret',
    'ws/far -> ROOT/secret/key',
    'ws/up -> ..',
    'ws/chain1 -> chain2',
    'ws/chain2 -> out/deep/../key',
    'ws/self -> .',
    'ws/lost -> ../secret/new/file',
    'ws/lostfolder -> ROOT/secret/none',
    'ws/dotdot -> src/../../secret',
    'secret/key',
    'secret/deep/x',
    'secret/back -> ../ws',
    'home/notes/n.md',
    'home/link -> ../secret',
  ])
  const paths: [path: string, real: string][] = [
    ['a.ts', 'ws/a.ts'],
    ['./src/../a.ts', 'ws/a.ts'],
    ['src//b.ts', 'ws/src/b.ts'],
    ['.', 'ws'],
    ['./', 'ws'],
    ['src/', 'ws/src'],
    ['a.ts/', 'ws/a.ts'],
    ['a.ts/x', 'ws/a.ts/x'],
    ['a.ts/..', 'ws'],
    ['-x', 'ws/-x'],
    ['a b\nc', 'ws/a b\nc'],
    ['new', 'ws/new'],
    ['new/deep/file', 'ws/new/deep/file'],
    ['new/../../secret/key', 'secret/key'],
    ['..', ''],
    ['../secret/key', 'secret/key'],
    ['../../../../../../../../../../../../..', '/'],
    ['in/b.ts', 'ws/src/b.ts'],
    ['in/new', 'ws/src/new'],
    ['in/../a.ts', 'ws/a.ts'],
    ['out', 'secret'],
    ['out/key', 'secret/key'],
    ['out/new', 'secret/new'],
    ['out/../ws/a.ts', 'ws/a.ts'],
    ['out/../new', 'new'],
    ['out/..', ''],
    ['out/deep/../../x', 'x'],
    ['far', 'secret/key'],
    ['up/secret/key', 'secret/key'],
    ['up/ws/up/ws/up/new', 'new'],
    ['chain1', 'secret/key'],
    ['self/self/self/a.ts', 'ws/a.ts'],
    ['lost', 'secret/new/file'],
    ['lostfolder/a/b', 'secret/none/a/b'],
    ['lostfolder/../key', 'secret/key'],
    ['new/../out/new', 'secret/new'],
    ['dotdot/new', 'secret/new'],
    ['out/back/out/back/new', 'ws/new'],
    ['~/notes/n.md', 'home/notes/n.md'],
    ['~', 'home'],
    ['~/../secret/key', 'secret/key'],
    ['~/link/new', 'secret/new'],
    ['./~', 'ws/~'],
    ['~x', 'ws/~x'],
    ['src/~/x', 'ws/src/~/x'],
    ['$HOME/x', 'ws/$HOME/x'],
    ['%2e%2e/x', 'ws/%2e%2e/x'],
    ['..\\x', 'ws/..\\x'],
    ['caf\u00e9', 'ws/caf\u00e9'],
  ]
  for (const [path, real] of paths) {
    assert.equal(await resolveIn(tree, path), real === '/' ? '/' : tree.at(real), JSON.stringify(path))
  }
  for (const path of ['ws/a.ts', 'ws/out/new', 'none/x', 'home/link/key']) {
    const real = path.replace(/^(ws\/out|home\/link)/, 'secret')
    assert.equal(await resolveIn(tree, tree.at(path)), tree.at(real), path)
  }
  assert.equal(await resolveIn(tree, '/'), '/')
  assert.equal(await resolveIn(tree, `//${tree.at('ws/a.ts')}`), tree.at('ws/a.ts'))
})

test('resolvePath() is the path that the kernel opens, and where it creates a file', async () => {
  const names = ['a', 'b', 'c']
  const target = fc
    .array(fc.constantFrom('..', '.', ...names), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'))
  const entries = fc.uniqueArray(
    fc.tuple(
      fc.constantFrom(...names.flatMap((x) => [x, ...names.map((y) => `${x}/${y}`)])),
      fc.option(target),
    ),
    { selector: ([path]) => path, minLength: 2, maxLength: 7 },
  )
  const path = fc
    .array(fc.constantFrom('..', '.', ...names), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join('/'))
  await fc.assert(
    fc.asyncProperty(entries, fc.array(path, { minLength: 8, maxLength: 8 }), async (made, paths) => {
      const tops = new Set(made.filter(([at, to]) => !at.includes('/') && to !== null).map(([at]) => at))
      const fitting = made.filter(([at]) => !at.includes('/') || !tops.has(at[0]!))
      await using tree = await linkTree([
        'x/y/ws/',
        ...fitting.map(([at, to]) => `x/y/ws/${at}${to === null ? '/' : ` -> ${to}`}`),
      ])
      const workspace = tree.at('x/y/ws')
      for (const one of paths) await compareWithKernel(one, workspace)
    }),
    { numRuns: propertyRuns(300, 20) },
  )
})

/** Creates a file at the path; on success it must be where resolvePath() said. */
async function compareWithKernel(path: string, workspace: string): Promise<void> {
  const raw = `${workspace}/${path}`
  const result = await resolvePath(path, { workspace, homeDir: '' }).catch((error: Error) => error.message)
  const there = await realpath(raw).catch(() => undefined)
  if (there !== undefined) {
    assert.equal(result, there, path)
    return
  }
  const isMade = await writeFile(raw, 'x', { flag: 'wx' }).then(
    () => true,
    () => false,
  )
  if (!isMade) return // nothing is opened
  assert.equal(result, await realpath(raw), path)
  await rm(result)
}

test('resolvePath() rejects impossible paths', async () => {
  await using tree = await linkTree(['ws/loop -> loop', 'ws/a -> b/x', 'ws/b -> a/y', 'ws/file'])
  const refuse = async (path: string, why: string) => {
    await assert.rejects(resolveIn(tree, path), { kind: 'invalid', message: new RegExp(`: ${why}$`) }, path)
  }
  await refuse('', 'it is empty')
  await refuse('a\0b', 'it has a NUL character')
  await refuse('loop', 'its links form a loop')
  await refuse('loop/x', 'its links form a loop')
  await refuse('a', 'its links form a loop')
  await refuse('new/../b', 'its links form a loop')
  await refuse('x'.repeat(300), 'it is too long')
  await refuse('x/'.repeat(3_000), 'it is too long')
  const noHome = resolvePath('~/x', { workspace: tree.at('ws'), homeDir: '' })
  await assert.rejects(noHome, { kind: 'invalid', message: /this user has no directory for ~/ })
})

test('resolvePath() accepts long paths and many segments', async () => {
  await using tree = await linkTree(['ws/'])
  const long = Array.from({ length: 15 }, () => 'x'.repeat(200)).join('/')
  assert.equal(await resolveIn(tree, long), tree.at(`ws/${long}`))
  const back = `${'new/'.repeat(300)}${'../'.repeat(300)}a`
  assert.equal(await resolveIn(tree, back), tree.at('ws/a'))
})

test('resolvePath() does not guess the contents of an inaccessible folder', async () => {
  await using tree = await linkTree(['ws/closed/in -> ../../secret', 'secret/key'])
  await chmod(tree.at('ws/closed'), 0)
  const isOpen = await readFile(tree.at('ws/closed/in/key')).then(
    () => true, // root may look
    () => false,
  )
  const found = await resolveIn(tree, 'closed/in/key').catch((error: Error) => error.message)
  await chmod(tree.at('ws/closed'), 0o700)
  assert.equal(
    found,
    isOpen ? tree.at('secret/key') : 'Cannot use the path "closed/in/key": permission denied',
  )
})

test('resolvePath() resolves the links of /proc and /dev', async () => {
  await using tree = await linkTree(['ws/a', 'secret/key'])
  if (platform() === 'linux') {
    assert.equal(await resolveIn(tree, `/proc/self/root${tree.at('secret/key')}`), tree.at('secret/key'))
    assert.equal(await resolveIn(tree, `/proc/self/root${tree.at('secret/new')}`), tree.at('secret/new'))
    const here = await realpath('.')
    assert.equal(await resolveIn(tree, '/proc/self/cwd/new-file'), join(here, 'new-file'))
    await using file = await open(tree.at('secret/key'))
    assert.equal(await resolveIn(tree, `/proc/self/fd/${file.fd}`), tree.at('secret/key'))
    assert.equal(await resolveIn(tree, `/dev/fd/${file.fd}`), tree.at('secret/key'))
  }
  assert.match(await resolveIn(tree, '/dev/null'), /^\/dev\/null$/)
})

test('resolvePath() spells existing files as the file system does', async () => {
  await using tree = await linkTree(['ws/Caf\u00e9/A.ts'])
  for (const path of ['cafe\u0301/a.ts', 'CAF\u00c9/new', 'Cafe\u0301/A.ts/x']) {
    const real = await resolveIn(tree, path)
    const there = await realpath(tree.at(`ws/${path.split('/')[0]}`)).catch(() => undefined)
    // If the names are one, the folder has its original name; otherwise it does not exist.
    assert.ok(isInside(there ?? tree.at(`ws/${path.split('/')[0]}`), real), path)
    if (there !== undefined) assert.equal(basename(there).normalize('NFC'), 'Caf\u00e9')
  }
})

test('isInside() compares whole names', () => {
  const inside: [folder: string, path: string][] = [
    ['/a', '/a'],
    ['/a', '/a/b'],
    ['/a', '/a/..b'],
    ['/a', '/a/.../b'],
    ['/', '/'],
    ['/', '/a'],
    ['/a/', '/a/b'],
  ]
  const outside: [folder: string, path: string][] = [
    ['/a', '/ab'],
    ['/a', '/'],
    ['/a/b', '/a'],
    ['/a', '/A'],
    ['/a', '/b/a'],
    ['/a', '/a/../b'],
    ['/caf\u00e9', '/cafe\u0301'],
  ]
  for (const [folder, path] of inside) assert.ok(isInside(folder, path), `${path} in ${folder}`)
  for (const [folder, path] of outside) assert.ok(!isInside(folder, path), `${path} in ${folder}`)
})
