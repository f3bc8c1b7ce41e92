import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import type { PageOverlay, Search } from '../../../src/tui/overlays/types.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/memory lists what the agent remembers; words find entries by their text', async () => {
  await using node = await startMemoryNode()
  const chat = createSlashChat(node.dispatch)
  await runSlash('/memory', chat.context, NEVER)
  assert.deepEqual(titles(chat), ['Who wakes at night', 'tea', 'the prod db'])
  await runSlash('/memory postgres port', chat.context, NEVER)
  assert.deepEqual(titles(chat), ['the prod db'])
  const [{ excerpts } = { excerpts: [] }] = search(chat).results.items
  assert.deepEqual(
    excerpts[0]?.pieces.filter(({ isMatch }) => isMatch).map(({ text }) => text),
    ['Postgres', 'port'],
  )
  await runSlash('/memory nosuchword', chat.context, NEVER)
  assert.deepEqual(titles(chat), [])
})

test('the chosen entry is shown, and leads back to the results', async () => {
  await using node = await startMemoryNode()
  const chat = createSlashChat(node.dispatch)
  await runSlash('/memory postgres', chat.context, NEVER)
  const before = search(chat)
  await choose(chat, 'the prod db')
  const page = openPage(chat)
  assert.equal(page.title, 'the prod db')
  assert.match(page.text, /^Postgres on db3, port 5433\n\nsince \d{4}-\d\d-\d\d · also database$/)
  assert.equal(page.back, before)
})

test('/memory forget NAME asks first, and the key removes the entry from the list', async () => {
  await using node = await startMemoryNode()
  const chat = createSlashChat(node.dispatch)
  await runSlash('/memory forget database', chat.context, NEVER)
  const page = openPage(chat)
  assert.deepEqual([page.title, page.action?.asked], ['the prod db', 'd'])
  assert.equal((await listEntries(node)).length, 3, 'nothing is forgotten yet')
  await choose(chat, 'the prod db', 'd')
  assert.equal(chat.state().overlay, undefined)
  assert.deepEqual(readNotices(chat), ['Forgotten: the prod db'])
  assert.equal((await listEntries(node)).length, 2)
})

test('forgetting an entry from a list leads back to the list without it', async () => {
  await using node = await startMemoryNode()
  const chat = createSlashChat(node.dispatch)
  await runSlash('/memory', chat.context, NEVER)
  await choose(chat, 'tea')
  await choose(chat, 'tea', 'd')
  assert.deepEqual(titles(chat), ['Who wakes at night', 'the prod db'])
})

test('the summary of a conversation is shown by its title, and cannot be forgotten', async () => {
  await using node = await startMemoryNode()
  const chat = createSlashChat(node.dispatch)
  await runSlash('/memory show Who wakes at night', chat.context, NEVER)
  const page = openPage(chat)
  assert.equal(page.action, undefined)
  assert.match(page.text, /The owl does\.\n\nsummary of a conversation/)
  await runSlash('/memory forget Who wakes at night', chat.context, NEVER)
  assert.match(readNotices(chat)[0] ?? '', /cannot be forgotten$/)
  assert.equal((await listEntries(node)).length, 3)
})

test('/memory show and forget report an unknown name', async () => {
  await using node = await startMemoryNode()
  const chat = createSlashChat(node.dispatch)
  await runSlash('/memory show nosuch', chat.context, NEVER)
  await runSlash('/memory forget nosuch', chat.context, NEVER)
  assert.deepEqual(readNotices(chat), Array(2).fill('crab has no memory entry called nosuch'))
  assert.equal(chat.state().overlay, undefined)
})

/** Starts a node whose agent crab remembers two notes and an archive. */
async function startMemoryNode(): Promise<TestDispatch> {
  const node = await startTestDispatch([])
  const entries = [
    { name: 'the prod db', content: 'Postgres on db3, port 5433', aliases: ['database'] },
    { name: 'tea', content: 'Ann likes it green' },
    {
      name: '01ARZ3NDEKTSV4RRFFQ69G5FAV-1',
      content: 'The owl does.',
      kind: MemoryKind.ARCHIVE,
      aliases: ['Who wakes at night'],
    },
  ]
  await request(node.dispatch, 'replaceMemory', { agent: 'crab', entries }, NEVER)
  return node
}

async function listEntries({ dispatch }: TestDispatch) {
  return (await request(dispatch, 'listMemory', { agent: 'crab' }, NEVER)).entries
}

async function choose(chat: SlashChat, value: string, key?: string): Promise<void> {
  await onChosen({ type: 'chosen', picker: 'memory', value, key }, chat.context, NEVER)
}

function search(chat: SlashChat): Search {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'search')
  return overlay
}

function openPage(chat: SlashChat): PageOverlay {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  return overlay
}

function titles(chat: SlashChat): string[] {
  return search(chat).results.items.map(({ title }) => title.map(({ text }) => text).join(''))
}

function readNotices(chat: SlashChat): string[] {
  return chat.blocks().flatMap((block) => (block.kind === 'notice' ? [block.text] : []))
}
