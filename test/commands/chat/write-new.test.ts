import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeNewFile } from '../../../src/commands/chat/write-new.ts'

test('writeNewFile() writes below the working directory, in the home directory, or anywhere', async () => {
  await using box = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const place = { cwd: box.path, home: box.path }
  for (const [index, path] of ['a.md', '~/b.md', join(box.path, 'c.md')].entries()) {
    const written = await writeNewFile(path, `text ${index}`, place)
    assert.equal(written, join(box.path, `${'abc'[index]}.md`))
    assert.equal(await readFile(written, 'utf8'), `text ${index}`)
  }
})

test('writeNewFile() does not overwrite files or links', async () => {
  await using box = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const place = { cwd: box.path, home: '/' }
  await writeNewFile('a.md', 'first', place)
  await symlink('elsewhere', join(box.path, 'link'))
  await assert.rejects(writeNewFile('a.md', 'second', place), {
    kind: 'conflict',
    message: /a\.md: it already exists/,
  })
  await assert.rejects(writeNewFile('link', 'second', place), { kind: 'conflict' })
  assert.equal(await readFile(join(box.path, 'a.md'), 'utf8'), 'first')
  await assert.rejects(writeNewFile('no/such/folder', '', place), { kind: 'missing' })
})
