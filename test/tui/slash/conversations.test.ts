import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { filterItems } from '../../../src/tui/overlays/picker.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import type { Reply } from '../../support/model-server.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const answers = (): Reply => ({ parts: ['So it is.'] })

test('"/resume offers this agent\'s conversations with every sender, and marks the current one"', async () => {
  await using node = await startTestDispatch(answers)
  const chat = await openChat(node)
  await node.ask('from the shell', { sender: 'sh:1' })
  await runSlash('/resume', chat.context, NEVER)
  const { items, title, selected } = openPicker(chat)
  assert.equal(title, 'Conversations of crab')
  assert.deepEqual(
    items.map(({ label, isCurrent }) => [label, isCurrent]),
    [
      ['from the shell', false],
      ['hello there', true],
    ],
  )
  assert.equal(selected, 1)
  assert.match(items[0]!.detail, /^now · 2 messages · crab/)
  await onChosen({ type: 'chosen', picker: 'session', value: items[0]!.value }, chat.context, NEVER)
  await onChosen({ type: 'chosen', picker: 'session', value: items[1]!.value }, chat.context, NEVER)
  assert.deepEqual(chat.done, [`open ${items[0]!.value}`]) // the second is open already
})

test("/resume TEXT filters the list, and a first word that is an agent's name selects its conversations", async () => {
  await using node = await startTestDispatch(answers)
  const chat = await openChat(node)
  await request(node.dispatch, 'createAgent', { name: 'owl' }, NEVER)
  await node.ask('hoot', { agent: 'owl' })
  await runSlash('/resume there', chat.context, NEVER)
  assert.deepEqual(labels(chat), ['hello there'])
  await runSlash('/resume owl', chat.context, NEVER)
  assert.deepEqual(labels(chat), ['hoot'])
  await runSlash('/resume owl nothing', chat.context, NEVER)
  assert.deepEqual(labels(chat), [])
})

test('/resume says when there is nothing to continue', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  await runSlash('/resume', chat.context, NEVER)
  assert.deepEqual(
    chat.blocks().map((block) => block.kind === 'notice' && block.text),
    ['crab has no conversations yet'],
  )
})

test('/title sets the title of the conversation, and shows it', async () => {
  await using node = await startTestDispatch(answers)
  const chat = await openChat(node)
  await runSlash('/title Crabs and owls', chat.context, NEVER)
  assert.equal(chat.state().title, 'Crabs and owls')
  const session = chat.state().session!
  const info = await request(node.dispatch, 'getSession', { session }, NEVER)
  assert.equal(info.title, 'Crabs and owls')
  await runSlash('/title', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /Renamed to \\"Crabs and owls\\"/)
})

test('/compact replaces the history with a summary and shows its start', async () => {
  const summary = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n')
  await using node = await startTestDispatch([{ parts: ['So it is.'] }, { parts: [summary] }])
  const chat = await openChat(node)
  await runSlash('/compact', chat.context, NEVER)
  const [working, done] = chat.blocks()
  assert.match(JSON.stringify(working), /Compacting the conversation/)
  assert.ok(done?.kind === 'output')
  assert.match(done.title, /^Compacted: \d+ → \d+ tokens$/)
  assert.match(done.text!, /^line 0\n.*\nline 7\n… \d+ more lines\n\/compact undo brings/s)
  const sent = node.server.requests.length
  await runSlash('/compact undo', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /the agent sees all messages again/)
  assert.equal(node.server.requests.length, sent)
  await assert.rejects(runSlash('/compact undo', chat.context, NEVER), /the conversation is not compacted/)
})

test('/compact passes its text to the model as a wish for the summary', async () => {
  await using node = await startTestDispatch([{ parts: ['So it is.'] }, { parts: ['A summary.'] }])
  const chat = await openChat(node)
  await runSlash('/compact focus on the API', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /Compacted: /)
  assert.match(
    node.server.requests.at(-1)!.text,
    /Write the summary now\. The person who compresses the conversation asks: focus on the API/,
  )
  const long = { agent: 'crab', sender: 'ann', focus: 'x'.repeat(2001) }
  await assert.rejects(request(node.dispatch, 'compact', long, NEVER), { kind: 'invalid' })
})

test('/compact throws when the model fails, and keeps the conversation', async () => {
  await using node = await startTestDispatch([{ parts: ['So it is.'] }, { status: 401, body: {} }])
  const chat = await openChat(node)
  await assert.rejects(runSlash('/compact', chat.context, NEVER), /401|key|credentials/i)
})

/** Opens a chat after one turn of (crab, ann). */
async function openChat(node: TestDispatch): Promise<SlashChat> {
  const chat = createSlashChat(node.dispatch)
  await node.ask('hello there')
  const { conversations } = await request(node.dispatch, 'listConversations', { sender: 'ann' }, NEVER)
  chat.openSession(conversations[0]!.filePath)
  return chat
}

function openPicker(chat: SlashChat) {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  return overlay
}

function labels(chat: SlashChat): string[] {
  return filterItems(openPicker(chat)).map(({ label }) => label)
}
