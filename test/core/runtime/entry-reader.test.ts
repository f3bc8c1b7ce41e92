import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const LONG = 'x'.repeat(900_000)

test('list_messages returns pages that fit a frame, and no empty one before the end', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  for (const content of ['one', LONG, LONG, LONG, 'z'.repeat(3_000_000)]) await node.ask(content)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const session = conversations[0]!.filePath
  const pages: number[][] = []
  for (let offset = 0; ; ) {
    const page = await request(node.dispatch, 'listMessages', { session, offset, limit: 500 }, NEVER)
    assert.equal(page.total, 10)
    pages.push(page.messages.map(({ content }) => content.length))
    offset += page.messages.length
    if (offset >= page.total) break
  }
  assert.deepEqual(pages, [[3, 3, 900_000, 3, 900_000, 3], [900_000, 3], [3_000_000], [3]])
})

test('list_messages sees what was appended since the last page', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const session = conversations[0]!.filePath
  const contents = async () => {
    const { messages } = await request(node.dispatch, 'listMessages', { session }, NEVER)
    return messages.map(({ content }) => content)
  }
  assert.deepEqual(await contents(), ['one', 'yes'])
  await node.ask('two')
  assert.deepEqual(await contents(), ['one', 'yes', 'two', 'yes'])
  await node.ask('three')
  assert.deepEqual(await contents(), ['one', 'yes', 'two', 'yes', 'three', 'yes'])
})

test('list_conversations finds those of a deleted agent by its name', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await request(node.dispatch, 'createAgent', { name: 'gone' }, NEVER)
  await node.ask('hi', { agent: 'gone' })
  await request(node.dispatch, 'deleteAgent', { name: 'gone' }, NEVER)
  const { conversations } = await request(node.dispatch, 'listConversations', { agent: 'gone' }, NEVER)
  assert.deepEqual(
    conversations.map(({ preview }) => preview),
    ['hi'],
  )
  await assert.rejects(request(node.dispatch, 'listConversations', { agent: 'never' }, NEVER), {
    kind: 'missing',
  })
})
