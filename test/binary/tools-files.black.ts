import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeToolTalk } from '../support/tool-talk.ts'

const ALLOW = ['--allow', 'edit', '-s', 'ann']

test('the next run of a conversation may edit what a run has read or written, until the file changes', async () => {
  await using talk = await makeToolTalk()
  const path = join(talk.cwd, 'src/a.ts')
  const edit = (old: string, replacement: string) =>
    ['edit', { path: 'src/a.ts', edits: [{ old, new: replacement }] }] as const
  const made = await talk.act(
    [['write', { path: 'src/a.ts', content: 'one\ntwo\n' }], edit('one', '1')],
    ALLOW,
  )
  assert.deepEqual(made, ['Created src/a.ts: 2 lines, 8 bytes', 'Edited src/a.ts\n[lines 1-2 of 2]\n1\ntwo'])
  assert.deepEqual(await talk.act([edit('two', '2')], ALLOW), ['Edited src/a.ts\n[lines 1-2 of 2]\n1\n2'])
  const [unread] = await talk.act([edit('1', 'one')], ['--allow', 'edit', '-s', 'bob'])
  assert.equal(unread, 'Cannot edit src/a.ts: you have not read it (read it first)')
  await writeFile(path, '1\n2\n3\n')
  assert.deepEqual(await talk.act([edit('1', 'one'), ['read', { path }], edit('1', 'one')], ALLOW), [
    'Cannot edit src/a.ts: it has changed since you last saw it (read it again)',
    '1\n2\n3',
    'Edited src/a.ts\n[lines 1-3 of 3]\none\n2\n3',
  ])
  assert.equal(await readFile(path, 'utf8'), 'one\n2\n3\n')
})

test('files are read without a question, and changed only with permission', async () => {
  await using talk = await makeToolTalk()
  await writeFile(join(talk.cwd, 'a.txt'), 'text\n')
  const [content, denied] = await talk.act([
    ['read', { path: 'a.txt' }],
    ['write', { path: 'a.txt', content: 'other\n' }],
  ])
  assert.equal(content, 'text')
  assert.match(denied!, /^Not permitted: edit a\.txt: /)
  assert.equal(await readFile(join(talk.cwd, 'a.txt'), 'utf8'), 'text\n')
})
