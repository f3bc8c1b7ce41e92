import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/approvals chooses a mode by name, or in a list; everything is only for /yolo', async () => {
  const chat = createSlashChat(route({}))
  for (const mode of ['plan', 'edits', 'read-only', 'ask'] as const) {
    await runSlash(`/approvals ${mode}`, chat.context, NEVER)
    assert.deepEqual([chat.state().mode, chat.state().chosenMode], [mode, mode])
    assert.notEqual(chat.state().hint, '')
  }
  for (const unknown of ['all', 'everything']) {
    await runSlash(`/approvals ${unknown}`, chat.context, NEVER)
    assert.match(JSON.stringify(chat.blocks().at(-1)), /choose one of ask, edits, plan, read-only; \/yolo/)
  }
  await runSlash('/approvals', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  assert.deepEqual(
    overlay.items.map(({ value }) => value),
    ['ask', 'edits', 'plan', 'read-only'],
  )
  await choose(chat, 'approvals', 'plan')
  assert.equal(chat.state().mode, 'plan')
})

test('/yolo allows everything only after a confirmation', async () => {
  const chat = createSlashChat(route({}))
  await runSlash('/yolo', chat.context, NEVER)
  assert.equal(chat.state().mode, 'ask')
  await choose(chat, 'yolo', 'no')
  assert.equal(chat.state().mode, 'ask')
  await choose(chat, 'yolo', 'yes')
  assert.equal(chat.state().mode, 'all')
})

async function choose(chat: SlashChat, picker: string, value: string): Promise<void> {
  await onChosen({ type: 'chosen', picker, value }, chat.context, NEVER)
}
