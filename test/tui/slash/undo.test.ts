import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { findEvent, startTestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/undo shows a preview, performs it, and then has nothing to do', async () => {
  const call = (name: string) => ({
    parts: [{ call: name, name: 'write', args: JSON.stringify({ path: name, content: 'x' }) }],
  })
  await using node = await startTestDispatch([call('a'), call('b'), { parts: ['Done.'] }])
  const events = await node.ask('go', { options: { allow: ['edit(/**)'] } })
  const { home } = node.home.paths
  await writeFile(join(home, 'b'), 'mine')
  const chat = createSlashChat(node.dispatch)
  chat.openSession(findEvent(events, 'start').value.sessionId)
  const rows = [
    ['removed', join(home, 'a')],
    ['kept', `${join(home, 'b')}: it changed after the turn`],
  ]
  await runSlash('/undo dry-run', chat.context, NEVER)
  assert.equal(await readFile(join(home, 'a'), 'utf8'), 'x')
  await runSlash('/undo', chat.context, NEVER)
  await assert.rejects(readFile(join(home, 'a')), { code: 'ENOENT' })
  await runSlash('/undo', chat.context, NEVER)
  await runSlash('/undo all', chat.context, NEVER)
  assert.deepEqual(chat.blocks(), [
    { kind: 'output', title: 'Dry run: /undo would do this · 2 files · turn started now', rows },
    { kind: 'output', title: 'Undone · 2 files · turn started now', rows },
    {
      kind: 'notice',
      tone: 'info',
      text: 'Nothing to undo: edit and write changed no files here, or the earlier contents are no longer kept',
      hint: undefined,
    },
    {
      kind: 'notice',
      tone: 'warning',
      text: '/undo reverts the last turn; /undo dry-run only shows how',
      hint: undefined,
    },
  ])
})
