import assert from 'node:assert/strict'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeLogs } from '../../../src/up/logs/log-files.ts'
import { diskNotes } from '../../../src/up/ps/disk-notes.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { makeTree } from '../../support/trees.ts'

test('diskNotes() reports logs that are too large, and nothing without logs', async () => {
  await using tree = await makeTree({ 'logs/a.log': 'x', 'logs/b.crash.log': '' })
  const at = { home: tree.path('.'), logs: tree.path('logs') }
  const logNotes = async () => (await diskNotes(at)).filter(({ message }) => message.startsWith('logs/'))
  assert.deepEqual(await logNotes(), [])
  truncateSync(tree.path('logs/b.crash.log'), 61_000_000)
  assert.deepEqual(await logNotes(), [
    { message: 'logs/b.crash.log has 61 MB', hint: 'crabup doctor explains what to do' },
  ])
  assert.deepEqual(await diskNotes({ home: tree.path('none'), logs: tree.path('none/logs') }), [])
})

test('diskNotes() reports a full disk', async (t) => {
  using disk = mountSmallDisk(256)
  if (!disk) return t.diagnostic('this user may not mount anything')
  mkdirSync(join(disk.path, 'logs'))
  assert.throws(() => writeFileSync(join(disk.path, 'x'), 'x'.repeat(1e6)), { code: 'ENOSPC' })
  const [note] = await diskNotes({ home: disk.path, logs: join(disk.path, 'logs') })
  assert.match(note?.message ?? '', /^the disk of .* is full: services may run but be unable to record it$/)
})

test('removeLogs() removes the logs of a service and their rotated files, and no others', async () => {
  const own = ['a.log', 'a.log.1', 'a.crash.log', 'a.crash.log.1']
  const others = ['a-b.log', 'aa.crash.log', 'a.log.bak', 'supervisor.log']
  await using tree = await makeTree(Object.fromEntries([...own, ...others].map((name) => [name, 'xx'])))
  assert.equal(await removeLogs(tree.path('.'), 'a'), 8)
  assert.deepEqual((await readdir(tree.path('.'))).toSorted(), others.toSorted())
  assert.equal(await removeLogs(tree.path('none'), 'a'), 0)
})
