import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWindowSender, openWindowMemory } from '../../../src/commands/chat/window-memory.ts'
import { findDirectoryConversations } from '../../../src/tui/controller/find-conversations.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'

const SIGNAL = new AbortController().signal

test('the last chat of a directory is found behind more than a page of scripts, beside unsent drafts only', async () => {
  await using program = await startTestDispatch(() => ({ parts: ['Fine.'] }))
  const cwd = program.home.paths.home
  await program.ask('a talk of the person', { sender: 'ann', cwd })
  for (let script = 0; script < 101; script++) await program.ask('a job', { sender: `job-${script}`, cwd })
  const [unsent, sent] = [newWindowSender(), newWindowSender()]
  await program.ask('a job in a window', { sender: sent, cwd })
  const cache = program.home.paths.cache
  for (const sender of [unsent, sent])
    await openWindowMemory(cache).saveDraft({
      agent: 'crab',
      sender,
      cwd,
      text: 'half a thought',
      pasted: [],
    })
  const { candidates, last } = await findDirectoryConversations(
    { dispatch: program.dispatch, memory: openWindowMemory(cache) },
    { agent: 'crab', cwd, person: 'ann' },
    SIGNAL,
  )
  assert.equal(last, 'a talk of the person')
  assert.deepEqual(
    candidates.map(({ sender, session }) => ({ sender, isStored: session !== undefined })),
    [
      { sender: unsent, isStored: false },
      { sender: 'ann', isStored: true },
    ],
  )
})
