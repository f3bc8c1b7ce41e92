import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { editText } from '../../../src/commands/chat/edit-text.ts'

const PATH = '/usr/bin:/bin'

test('editText() returns the edited text, without the line feed that the editor added', async () => {
  await using box = await openEditor('printf "%s, and more\\n" "$(cat "$1")" > "$1.new"; mv "$1.new" "$1"')
  assert.equal(await editText('one\ntwo', box), 'one\ntwo, and more')
})

test('editText() returns nothing for an unchanged text', async () => {
  await using box = await openEditor('echo >> "$1"')
  assert.equal(await editText('text', box), undefined)
  assert.equal(await editText('text\n', box), 'text\n\n')
})

test('editText() returns an empty text when it was cleared', async () => {
  await using box = await openEditor(': > "$1"')
  assert.equal(await editText('text', box), '')
})

test('editText() prefers $VISUAL, and keeps its arguments', async () => {
  await using box = await openEditor('[ "$1" = --wait ] && echo visual > "$2"')
  const { EDITOR } = box.env
  assert.equal(await editText('', { env: { PATH, EDITOR: 'false', VISUAL: `${EDITOR} --wait` } }), 'visual')
})

test('editText() fails when its editor fails, and leaves no file', async () => {
  await using box = await openEditor(
    'echo "$1" > "$(dirname "$0")/path"; ls -l "$1" > "$(dirname "$0")/mode"; exit 3',
  )
  await assert.rejects(editText('text', box), { kind: 'failed', message: /^Cannot edit: .* exited with 3$/ })
  const path = (await readFile(join(box.path, 'path'), 'utf8')).trim()
  assert.match(await readFile(join(box.path, 'mode'), 'utf8'), /^-rw-------/)
  await assert.rejects(readFile(path), { code: 'ENOENT' })
  await assert.rejects(readFile(dirname(path)), { code: 'ENOENT' })
})

async function openEditor(script: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(folder.path, 'editor')
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return Object.assign(folder, { env: { PATH, EDITOR: path } })
}
