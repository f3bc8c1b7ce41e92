import assert from 'node:assert/strict'
import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import {
  link,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rename,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { CrabError } from '../../../../src/core/base/errors.ts'
import { MemoryLeases } from '../../../../src/core/lease/memory-leases.ts'
import { isInside } from '../../../../src/core/policy/paths.ts'
import type { PolicyAction } from '../../../../src/core/policy/types.ts'
import { fileTools } from '../../../support/file-tools.ts'

const PREFIX = join(tmpdir(), 'crab-')

const SWAPS: Record<string, (dir: string) => Promise<void>> = {
  'the file becomes a link': async (dir) => {
    await rename(join(dir, 'work/sub/file'), join(dir, 'work/sub/kept'))
    await symlink(join(dir, 'secret/file'), join(dir, 'work/sub/file'))
  },
  'its folder becomes a link': async (dir) => {
    await rename(join(dir, 'work/sub'), join(dir, 'work/kept'))
    await symlink(join(dir, 'secret'), join(dir, 'work/sub'))
  },
  'a folder above becomes a link': async (dir) => {
    await rename(join(dir, 'work'), join(dir, 'kept'))
    await mkdir(join(dir, 'secret/sub'))
    await rename(join(dir, 'secret/file'), join(dir, 'secret/sub/file'))
    await symlink('secret', join(dir, 'work'))
  },
}
for (const [what, swap] of Object.entries(SWAPS)) {
  for (const [system, fdLinks] of [
    ['Linux', '/proc/self/fd'],
    ['other systems', '/nowhere'],
  ] as const) {
    test(`nothing is read or written elsewhere when ${what} after the permission, on ${system}`, async () => {
      for (const [name, args] of CALLS) {
        await using dir = await mkdtempDisposable(PREFIX)
        await mkdir(join(dir.path, 'work/sub'), { recursive: true })
        await mkdir(join(dir.path, 'secret'))
        await writeFile(join(dir.path, 'work/sub/file'), 'same\n')
        await writeFile(join(dir.path, 'secret/file'), 'same\n')
        const tools = fileTools(join(dir.path, 'work'), { fdLinks })
        await tools.run('read', { path: 'sub/file' })
        const unsafe = fileTools(join(dir.path, 'work'), {
          fdLinks,
          files: tools.files,
          meanwhile: () => swap(dir.path),
        })
        const answer = await unsafe.say(name, args)
        assert.match(answer, /^!Cannot \w+ sub\/\w+: (it is a link now|its path points elsewhere)/)
        const secret = await readdir(join(dir.path, 'secret'), { recursive: true })
        assert.deepEqual(
          secret.filter((path) => !/^(sub|(sub\/)?file)$/.test(path)),
          [],
        )
        const [path] = secret.filter((entry) => entry.endsWith('file'))
        assert.equal(await readFile(join(dir.path, 'secret', path!), 'utf8'), 'same\n')
      }
    })
  }
}
const CALLS: [string, object][] = [
  ['read', { path: 'sub/file' }],
  ['write', { path: 'sub/file', content: 'new\n' }],
  ['edit', { path: 'sub/file', edits: [{ old: 'same', new: 'other' }] }],
]

test('write creates nothing elsewhere when a folder becomes a link after the permission', async () => {
  for (const fdLinks of ['/proc/self/fd', '/nowhere']) {
    await using dir = await mkdtempDisposable(PREFIX)
    await mkdir(join(dir.path, 'work/sub'), { recursive: true })
    await mkdir(join(dir.path, 'secret'))
    const swap = async () => {
      await rename(join(dir.path, 'work/sub'), join(dir.path, 'work/kept'))
      await symlink('../secret', join(dir.path, 'work/sub'))
    }
    const { say } = fileTools(join(dir.path, 'work'), { fdLinks, meanwhile: swap })
    for (const path of ['sub/new', 'sub/a/b/new']) {
      assert.match(await say('write', { path, content: 'x' }), /^!Cannot write .*: its path points elsewhere/)
      await rename(join(dir.path, 'work/sub'), join(dir.path, 'link')).then(() =>
        rename(join(dir.path, 'work/kept'), join(dir.path, 'work/sub')),
      )
    }
    assert.deepEqual(await readdir(join(dir.path, 'secret')), [])
  }
})

/**
 * The state of the conversation; `onLook` runs once when a tool looks at a file, after reading and before
 * writing.
 */
class Known extends Map<string, string> {
  onLook: (() => void) | undefined

  override get(path: string): string | undefined {
    this.onLook?.()
    this.onLook = undefined
    return super.get(path)
  }
}

test('a change by another program between reading and writing is not lost', async () => {
  for (const names of [1, 2]) {
    await using dir = await mkdtempDisposable(PREFIX)
    const path = join(dir.path, 'file')
    await writeFile(path, 'one\ntwo\n')
    if (names === 2) await link(path, join(dir.path, 'second'))
    const files = new Known()
    const { say } = fileTools(dir.path, { files })
    await say('read', { path })
    const changes = [
      () => writeFileSync(path, 'one\ntwo\nthree\n'),
      () => {
        writeFileSync(join(dir.path, 'new'), 'one\ntwo\n')
        renameSync(join(dir.path, 'new'), path)
      },
    ]
    for (const change of names === 1 ? changes : changes.slice(0, 1)) {
      files.onLook = change
      const answer = await say('edit', { path: 'file', edits: [{ old: 'one', new: '1' }] })
      assert.equal(answer, '!Cannot edit file: another program is changing it right now (read it again)')
      assert.match(await readFile(path, 'utf8'), /^one/)
      await say('read', { path })
    }
    assert.deepEqual((await readdir(dir.path)).toSorted(), names === 2 ? ['file', 'second'] : ['file'])
  }
})

test('nothing is written elsewhere when a folder becomes a link between reading and writing', async () => {
  for (const fdLinks of ['/proc/self/fd', '/nowhere']) {
    await using dir = await mkdtempDisposable(PREFIX)
    const at = (name: string) => join(dir.path, name)
    for (const folder of ['work', 'secret']) await mkdir(at(folder))
    for (const name of ['work/file', 'secret/file']) await writeFile(at(name), 'same\n')
    const files = new Known()
    const { say } = fileTools(dir.path, { fdLinks, files })
    await say('read', { path: 'work/file' })
    files.onLook = () => {
      renameSync(at('work'), at('kept'))
      symlinkSync('secret', at('work'))
    }
    const answer = await say('write', { path: 'work/file', content: 'new\n' })
    assert.match(answer, fdLinks === '/nowhere' ? /^!Cannot write / : /^Replaced/)
    assert.equal(await readFile(at('secret/file'), 'utf8'), 'same\n')
    assert.equal(await readFile(at('kept/file'), 'utf8'), fdLinks === '/nowhere' ? 'same\n' : 'new\n')
    assert.deepEqual(await readdir(at('secret')), ['file'])
  }
})

test('concurrent creates of one file succeed once, and concurrent replaces run one after another', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const { say } = fileTools(dir.path)
  const others = Array.from({ length: 4 }, () => fileTools(dir.path)) // with their own leases
  for (let round = 0; round < 20; round++) {
    const path = `file-${round}`
    const answers = await Promise.all(
      others.map((tools) => tools.say('write', { path, content: `${round}` })),
    )
    assert.equal(answers.filter((answer) => answer.startsWith('Created')).length, 1, answers.join('\n'))
  }
  assert.equal((await readdir(dir.path)).length, 20)
  assert.match(await say('write', { path: 'file-1', content: 'x' }), /you have not read it/)
})

test('a conversation does not replace what another one has written since', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const leases = new MemoryLeases()
  const talks = Array.from({ length: 4 }, () => fileTools(dir.path, { leases }))
  await writeFile(join(dir.path, 'file'), 'start')
  for (let round = 0; round < 20; round++) {
    await Promise.all(talks.map((tools) => tools.say('read', { path: 'file' })))
    const write = (tools: (typeof talks)[number], talk: number) =>
      tools.say('write', { path: 'file', content: `${round} ${talk}` })
    const answers = await Promise.all(talks.map(write))
    assert.equal(answers.filter((answer) => answer.startsWith('Replaced')).length, 1)
    assert.equal(answers.filter((answer) => /it has changed since you last saw it/.test(answer)).length, 3)
  }
})

test('swapping a file and its folder for links never leads to reads or writes at their targets', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  for (const folder of ['work/sub', 'secret']) await mkdir(at(folder), { recursive: true })
  for (const [name, content] of [
    ['work/sub/file', 'mine\n'],
    ['secret/file', 'secret\n'],
  ] as const)
    await writeFile(at(name), content)
  const program = fileURLToPath(new URL('swap-program.ts', import.meta.url))
  const swapper = new Worker(program, { workerData: { folder: dir.path, rounds: 2_000 } })
  let isOver = false
  const over = new Promise((resolve) => swapper.once('exit', resolve)).then(() => {
    isOver = true
  })
  const meanwhile = async (action: PolicyAction) => {
    if (!('path' in action) || !isInside(at('work'), action.path))
      throw new CrabError('denied', 'not permitted')
  }
  const { say } = fileTools(at('work'), { meanwhile })
  const counts = { read: 0, edited: 0 }
  while (!isOver) {
    const content = await say('read', { path: 'sub/file' })
    assert.doesNotMatch(content, /secret/)
    if (!content.startsWith('!')) counts.read++
    const edits = [{ old: 'mine', new: 'mine ' }]
    if ((await say('edit', { path: 'sub/file', edits })).startsWith('Edited')) counts.edited++
  }
  await over
  assert.ok(counts.read > 0 && counts.edited > 0, JSON.stringify(counts))
  assert.equal(await readFile(at('secret/file'), 'utf8'), 'secret\n')
  assert.deepEqual(await readdir(at('secret')), ['file'])
})
