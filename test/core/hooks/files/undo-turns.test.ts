import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmod,
  link,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { ulid } from 'ulid'
import type { UndoQuota } from '../../../../src/core/hooks/files/undo/quota.ts'
import { UndoTurns } from '../../../../src/core/hooks/files/undo/turns.ts'
import { MemoryLeases } from '../../../../src/core/lease/memory-leases.ts'
import { type FileTools, fileTools } from '../../../support/file-tools.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { mountSmallDisk } from '../../../support/small-disk.ts'
import { modesUnder } from '../../../support/talk.ts'

const NEVER = new AbortController().signal
const SESSION = 's'

test('undo restores the contents and mode of an edited file, and removes a created one with its folders', async () => {
  await using at = await place()
  await writeFile(at.path('old'), 'one\r\ntwo\r\n')
  await chmod(at.path('old'), 0o640)
  const turn = at.turn()
  await turn.say('read', { path: 'old' })
  await turn.say('edit', { path: 'old', edits: [{ old: 'one', new: '1' }] })
  await turn.say('edit', { path: 'old', edits: [{ old: 'two', new: '2' }] })
  await turn.say('write', { path: 'a/b/new', content: 'x' })
  await turn.say('write', { path: 'a/b/new', content: 'y' })
  assert.deepEqual(await at.undo({ dryRun: true }), ['removed a/b/new', 'restored old'])
  assert.equal(await at.text('old'), '1\r\n2\r\n')
  assert.deepEqual(await at.undo(), ['removed a/b/new', 'restored old'])
  assert.equal(await at.text('old'), 'one\r\ntwo\r\n')
  assert.equal((await stat(at.path('old'))).mode & 0o777, 0o640)
  assert.deepEqual(await readdir(at.path('.')), ['old'])
  assert.equal(await at.undo(), undefined)
  assert.deepEqual(await readdir(at.kept), [])
})

test('an overwritten file, even binary, is restored byte for byte', async () => {
  await using at = await place()
  const bytes = Buffer.from([0, 255, 254, 13, 10, 0])
  await writeFile(at.path('bin'), bytes)
  const turn = at.turn()
  await turn.say('read', { path: 'bin' })
  turn.files.set(at.path('bin'), await versionIn(at, 'bin'))
  assert.match(await turn.say('write', { path: 'bin', content: 'text' }), /^Replaced/)
  assert.deepEqual(await at.undo(), ['restored bin'])
  assert.deepEqual(await readFile(at.path('bin')), bytes)
})

test('changes by others after the turn are kept', async () => {
  await using at = await place()
  await at.write({ edited: 'a', created: undefined, same: 'a' })
  const turn = at.turn()
  await turn.change('edited', 'a', 'b')
  await turn.change('same', 'a', 'b')
  await turn.say('write', { path: 'created', content: 'b' })
  await writeFile(at.path('edited'), 'mine')
  await writeFile(at.path('created'), 'mine, too')
  await writeFile(at.path('same'), 'b') // rewritten with the contents that the turn left
  const result = [
    'kept created: it changed after the turn',
    'kept edited: it changed after the turn',
    'restored same',
  ]
  assert.deepEqual(await at.undo({ dryRun: true }), result)
  assert.deepEqual(await at.undo(), result)
  assert.deepEqual([await at.text('edited'), await at.text('created')], ['mine', 'mine, too'])
  assert.equal(await at.undo(), undefined)
})

test('changes by others between two changes of the turn are kept', async () => {
  await using at = await place()
  await at.write({ file: 'a' })
  const turn = at.turn()
  await turn.change('file', 'a', 'b')
  await writeFile(at.path('file'), 'b and mine')
  await turn.change('file', 'b', 'c')
  assert.equal(await at.text('file'), 'c and mine')
  assert.deepEqual(await at.undo(), ['kept file: something else also changed it during the turn'])
  assert.equal(await at.text('file'), 'c and mine')
})

test('a deleted file is restored with its mode and folders', async () => {
  await using at = await place()
  await mkdir(at.path('folder'))
  await at.write({ 'folder/edited': 'a' })
  await chmod(at.path('folder/edited'), 0o750)
  const turn = at.turn()
  await turn.change('folder/edited', 'a', 'b')
  await turn.say('write', { path: 'created', content: 'b' })
  await rm(at.path('folder'), { recursive: true })
  await rm(at.path('created'))
  assert.deepEqual(await at.undo(), ['removed created', 'restored folder/edited'])
  assert.equal(await at.text('folder/edited'), 'a')
  assert.equal((await stat(at.path('folder/edited'))).mode & 0o777, 0o750)
})

test('a folder that the turn created stays while it contains other files', async () => {
  await using at = await place()
  await at.turn().say('write', { path: 'a/b/new', content: 'x' })
  await writeFile(at.path('a/mine'), '')
  assert.deepEqual(await at.undo(), ['removed a/b/new'])
  assert.deepEqual(await readdir(at.path('a')), ['mine'])
})

test('turns are undone one after the other, the latest first', async () => {
  await using at = await place()
  await at.write({ file: '0' })
  for (const [old, now] of ['01', '12', '23']) await at.turn().change('file', old!, now!)
  for (const text of ['2', '1', '0']) {
    assert.deepEqual(await at.undo(), ['restored file'])
    assert.equal(await at.text('file'), text)
  }
  assert.equal(await at.undo(), undefined)
})

test('undoing all turns restores the original state, whatever they did', async () => {
  const act = fc.record({
    name: fc.constantFrom('one', 'two', 'sub/three', 'sub/sub/four'),
    content: fc.constantFrom('', 'a', 'b\n', 'c\r\n'),
    isGone: fc.boolean(), // another program deletes it after the change
  })
  const turns = fc.array(fc.array(act, { maxLength: 5 }), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      await using at = await place()
      await at.write({ one: 'first\n', two: '' })
      const before = await snapshot(at)
      for (const acts of all) {
        const turn = at.turn()
        for (const { name, content, isGone } of acts) {
          await turn.say('read', { path: name })
          const answer = await turn.say('write', { path: name, content })
          if (isGone && /^(Created|Replaced)/.test(answer)) await rm(at.path(name))
        }
      }
      for (let files = await at.undo(); files; files = await at.undo())
        assert.ok(
          files.every((file) => !file.startsWith('kept')),
          files.join(),
        )
      assert.deepEqual(await snapshot(at), before)
    }),
    { numRuns: propertyRuns(200, 20) },
  )
})

test('a link that replaced the file or its folder is not followed', async () => {
  await using at = await place()
  await mkdir(at.path('folder'))
  await mkdir(at.path('other'))
  await at.write({ 'folder/file': 'a', file: 'a' })
  const turn = at.turn()
  await turn.change('folder/file', 'a', 'b')
  await turn.change('file', 'a', 'b')
  await at.write({ 'other/file': 'b' })
  await rename(at.path('folder'), at.path('moved'))
  await symlink('other', at.path('folder'))
  await rm(at.path('file'))
  await symlink('other/file', at.path('file'))
  assert.deepEqual(await at.undo(), [
    'kept file: it is a link now, not a file',
    'kept folder/file: its path points elsewhere than when it was permitted',
  ])
  assert.equal(await at.text('other/file'), 'b')
})

test('a file with two hard links stays one file', async () => {
  await using at = await place()
  await at.write({ file: 'a' })
  await link(at.path('file'), at.path('same'))
  await at.turn().change('file', 'a', 'b')
  assert.equal(await at.text('same'), 'b')
  assert.deepEqual(await at.undo(), ['restored file'])
  assert.equal(await at.text('same'), 'a')
})

test('a path that became a folder or a file of crabtalk itself is left alone', async () => {
  await using at = await place()
  await at.write({ file: 'a', own: 'a' })
  const turn = at.turn()
  await turn.change('file', 'a', 'b')
  await turn.change('own', 'a', 'b')
  await rm(at.path('file'))
  await mkdir(at.path('file'))
  const files = await at.undo({ closed: [at.path('own')] })
  assert.deepEqual(files, ['kept file: it is a folder', "kept own: it is one of crabtalk's own files"])
  assert.equal(await at.text('own'), 'b')
})

test("files over the size limit, or over the session's quota, are changed without a backup, and undo says so", async () => {
  await using at = await place({ fileBytes: 20, sessionBytes: 500, turns: 9 })
  await at.write({ large: `a${'-'.repeat(20)}`, small: 'a' })
  const turn = at.turn()
  assert.match(await turn.change('large', 'a', 'b'), /^Edited large\n[^\n]*\nb-+$/)
  await turn.change('small', 'a', 'b')
  assert.deepEqual(await at.undo(), [
    'kept large: its previous content was not kept: it had 21 bytes, and up to 20 are kept',
    'restored small',
  ])
})

test("a turn over the session's quota keeps its first backups", async () => {
  await using at = await place({ fileBytes: 1000, sessionBytes: 1500, turns: 9 })
  await at.write({ one: `a${'-'.repeat(900)}`, two: `a${'-'.repeat(900)}` })
  const turn = at.turn()
  await turn.change('one', 'a', 'b')
  await turn.change('two', 'a', 'b')
  const why = 'its previous content was not kept: the turn changed more than the 1500 bytes that are kept'
  assert.deepEqual(await at.undo(), ['restored one', `kept two: ${why}`])
})

test('the oldest turns are dropped when a session exceeds its quota or number of turns', async () => {
  for (const limits of [
    { fileBytes: 1000, sessionBytes: 2700, turns: 9 },
    { fileBytes: 1000, sessionBytes: 1_000_000, turns: 2 },
  ]) {
    await using at = await place(limits)
    const rest = '-'.repeat(900)
    await at.write({ file: `0${rest}` })
    for (const [old, now] of ['01', '12', '23']) await at.turn().change('file', `${old}-`, `${now}-`)
    assert.deepEqual([await at.undo(), await at.undo()], [['restored file'], ['restored file']])
    assert.equal(await at.text('file'), `1${rest}`)
    assert.equal(await at.undo(), undefined)
  }
})

test('backups are private, and a deleted cache is not an error', async () => {
  await using at = await place()
  await at.write({ file: 'a', other: 'a' })
  const turn = at.turn()
  await turn.change('file', 'a', 'b')
  await turn.change('other', 'a', 'b')
  const modes = (await modesUnder(at.kept)).map((row) => row.slice(0, 3))
  assert.deepEqual(modes, ['700', '700', '600', '600', '600', '600'])
  const [run = ''] = await readdir(join(at.kept, SESSION))
  for (const name of await readdir(join(at.kept, SESSION, run)))
    if (!name.endsWith('.json')) await writeFile(join(at.kept, SESSION, run, name), 'half')
  const why = 'its previous content was not kept: its backup was deleted, or its turn is too old'
  assert.deepEqual(await at.undo({ dryRun: true }), [`kept file: ${why}`, `kept other: ${why}`])
  await rm(at.kept, { recursive: true })
  assert.equal(await at.undo(), undefined)
  assert.equal(await at.text('file'), 'b')
})

test('a change is made even if it cannot be backed up, and its answer says so', async () => {
  await using at = await place()
  await writeFile(at.kept, 'in the way')
  await at.write({ file: 'a' })
  const turn = at.turn()
  assert.match(
    await turn.change('file', 'a', 'b'),
    /^Edited file\n[\s\S]*\n\[cannot be undone: .*is in the way\]$/,
  )
  assert.match(await turn.say('write', { path: 'new', content: 'x' }), /^Created new: .*\n\[cannot be undone/)
  assert.equal(await at.text('file'), 'b')
})

test('a failed change leaves nothing to undo', async () => {
  await using at = await place()
  const stage = mountSmallDisk(64)
  if (!stage) return
  using disk = stage
  await writeFile(join(disk.path, 'file'), 'a')
  const turn = at.turn(disk.path)
  await turn.say('read', { path: 'file' })
  const content = 'x'.repeat(100_000)
  assert.match(await turn.say('write', { path: 'file', content }), /^!Cannot write file: the disk is full/)
  assert.match(
    await turn.say('write', { path: 'new/file', content }),
    /^!Cannot write new\/file: the disk is full/,
  )
  assert.equal(await at.undo(), undefined)
  await turn.change('file', 'a', 'b')
  assert.match(await turn.say('write', { path: 'file', content }), /^!Cannot write file: the disk is full/)
  assert.deepEqual(await at.undo(), ['restored file'])
  assert.equal(await readFile(join(disk.path, 'file'), 'utf8'), 'a')
})

test('a full disk keeps the turn for a later undo', async () => {
  await using at = await place()
  await at.write({ free: 'a' })
  const stage = mountSmallDisk(64)
  if (!stage) return
  using disk = stage
  for (const name of ['first', 'last']) await writeFile(join(disk.path, name), 'a')
  const turn = at.turn()
  await turn.change('free', 'a', 'b')
  for (const name of ['first', 'last']) await turn.change(join(disk.path, name), 'a', 'b')
  await turn.say('write', { path: join(disk.path, 'new'), content: 'x' })
  execFileSync('mount', ['-o', 'remount,ro', disk.path])
  const results = await at.undo()
  assert.deepEqual(results?.toSorted(), [
    'kept first: the file system is read-only',
    'kept last: the file system is read-only',
    'kept new: the file system is read-only',
    'restored free',
  ])
  execFileSync('mount', ['-o', 'remount,rw', disk.path])
  assert.deepEqual(await at.undo(), ['restored first', 'restored last', 'removed new'])
  assert.deepEqual(await readdir(disk.path), ['first', 'last'])
  assert.equal(await at.undo(), undefined)
})

interface Place extends AsyncDisposable {
  path(name: string): string
  text(name: string): Promise<string>
  write(files: Record<string, string | undefined>): Promise<void>
  /** Runs the file tools in a turn of its own. */
  turn(cwd?: string): FileTools & { change(path: string, old: string, now: string): Promise<string> }
  /** Returns the outcome of each file of the last turn, as `kept NAME: why`; undefined without such a turn. */
  undo(how?: { dryRun?: boolean; closed?: string[] }): Promise<string[] | undefined>
  /** Returns the folder of the stored turns. */
  kept: string
}

async function place(limits?: UndoQuota): Promise<Place> {
  const dir = await mkdtempDisposable(join(await realpath(tmpdir()), 'crab-'))
  const [work, kept] = [join(dir.path, 'work'), join(dir.path, 'kept')]
  await mkdir(work)
  const leases = new MemoryLeases()
  const path = (name: string) => join(work, name)
  let time = Date.now()
  return {
    kept,
    path,
    text: (name) => readFile(path(name), 'utf8'),
    async write(files) {
      for (const [name, text] of Object.entries(files))
        if (text !== undefined) await writeFile(path(name), text)
    },
    turn(cwd = work) {
      const keepDir = join(kept, SESSION, ulid(time++))
      const tools = fileTools(cwd, { leases, keepDir, ...(limits && { limits }) })
      return {
        ...tools,
        async change(name, old, now) {
          await tools.say('read', { path: name })
          return await tools.say('edit', { path: name, edits: [{ old, new: now }] })
        },
      }
    },
    async undo({ dryRun = false, closed = [] } = {}) {
      const lock = (name: string, signal: AbortSignal) => leases.take(name, signal)
      const turns = new UndoTurns({ folder: kept, closed, lock })
      const run = await turns.last(SESSION)
      if (run === undefined) return undefined
      const files = await Array.fromAsync(turns.restore({ session: SESSION, run, dryRun }, NEVER))
      if (!dryRun) await turns.forget({ session: SESSION, run }, files)
      return files.map(({ path: file, outcome, reason }) => {
        const name = file.startsWith(work) ? file.slice(work.length + 1) : basename(file)
        return `${outcome} ${name}${reason === '' ? '' : `: ${reason}`}`
      })
    },
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}

async function versionIn(at: Place, name: string): Promise<string> {
  const { hashVersion: versionOf } = await import('../../../../src/core/hooks/files/version.ts')
  return await versionOf(await readFile(at.path(name)))
}

/** Returns every file with its contents. */
async function snapshot(at: Place): Promise<string[]> {
  const names = await readdir(at.path('.'), { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return await Promise.all(files.toSorted().map(async (file) => `${file}: ${await readFile(file, 'utf8')}`))
}
