import assert from 'node:assert/strict'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertFailed, makeTalk, type Talk } from '../support/talk.ts'

const NOTHING =
  'Nothing to undo: edit and write changed no files here, or the earlier contents are no longer kept\n'

test('conversation undo previews, and reverts the changes of the last turn', async () => {
  await using talk = await makeTalk([
    call('write', { path: 'new/file', content: 'x' }),
    call('read', { path: 'old' }),
    call('edit', { path: 'old', edits: [{ old: 'one', new: 'two' }] }),
    { parts: ['Done.'] },
  ])
  const [old, made] = [join(talk.cwd, 'old'), join(talk.cwd, 'new/file')]
  await writeFile(old, 'one\n')
  await chmod(old, 0o640)
  assert.equal((await talk.send(['-s', 'me', '--yolo', 'go'])).code, 0)
  assert.equal(await readFile(old, 'utf8'), 'two\n')
  const rows = `removed   ${made}\nrestored  ${old}\n`
  const dry = await talk.run(['conversation', 'undo', '--dry-run'])
  assert.deepEqual([dry.stdout, dry.code], [rows, 0])
  assert.match(dry.stderr, /^would undo a turn of crab with me, started (now|\d+[sm] ago)\n$/)
  const json = await talk.run(['conversation', 'undo', '-a', 'crab', '-s', 'me', '--json'])
  const { run_id: run, files } = JSON.parse(json.stdout)
  assert.match(run, /^[0-9A-Z]{26}$/)
  assert.deepEqual(files, [
    { path: made, outcome: 'removed', reason: '' },
    { path: old, outcome: 'restored', reason: '' },
  ])
  assert.deepEqual([await readFile(old, 'utf8'), (await stat(old)).mode & 0o777], ['one\n', 0o640])
  assert.deepEqual(await readdir(talk.cwd), ['old'])
  assert.deepEqual(await undo(talk), ['', NOTHING, 0])
  assert.deepEqual(await undo(talk, '-s', 'nobody'), ['', NOTHING, 0])
  assert.equal(
    (await talk.run(['conversation', 'undo', '--json'])).stdout,
    '{\n  "run_id": "",\n  "files": []\n}\n',
  )
  assertFailed(await talk.run(['conversation', 'undo', '-a', 'nobody']), 'missing', { message: /"nobody"$/ })
})

test('conversation undo reverts a turn that was killed, and is refused while the turn runs', async () => {
  await using talk = await makeTalk([
    call('write', { path: 'a', content: 'x' }),
    { parts: ['thinking'], end: 'hang' },
  ])
  const running = talk.startSend(['-s', 'me', '--yolo', 'go'])
  await running.prints(/thinking/)
  assertFailed(await talk.run(['conversation', 'undo']), 'conflict', {
    message: /^Cannot undo the conversation's changes to files: another process is running a turn in it$/,
    hint: /wait for it to end/,
  })
  running.child.kill('SIGKILL')
  await running.finished
  assert.equal((await talk.run(['agent', 'rename', 'crab', 'lobster'])).code, 0)
  const [stdout, , code] = await undo(talk)
  assert.deepEqual([stdout, code], [`removed   ${join(talk.cwd, 'a')}\n`, 0])
  assert.deepEqual(await readdir(talk.cwd), [])
})

function call(name: string, args: object) {
  return { parts: [{ call: name, name, args: JSON.stringify(args) }] }
}

async function undo(talk: Talk, ...args: string[]) {
  const { stdout, stderr, code } = await talk.run(['conversation', 'undo', ...args])
  return [stdout, stderr, code]
}
