import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConversationStart, LeasedConversation } from '../../../src/core/runtime/leased-conversation.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { newStores } from '../../support/test-node.ts'

const NEVER = new AbortController().signal

test('LeasedConversation.take() starts a session with the message, or appends it to the existing one', async () => {
  const stores = newStores(new MemoryStorage())
  const contents: string[][] = []
  const ids = new Set<string>()
  for (const text of ['one', 'two']) {
    await using held = await LeasedConversation.lease(stores, beginning('ann', text), NEVER)
    contents.push(held.history.messages.map(({ content }) => content))
    ids.add(held.id)
    assert.deepEqual([held.header.created_by, held.warnings], ['ann', []])
  }
  assert.deepEqual([contents, ids.size], [[['one'], ['one', 'two']], 1])
})

test('LeasedConversation.append() appends concurrent messages one after the other', async () => {
  const stores = newStores(new MemoryStorage())
  await using held = await LeasedConversation.lease(stores, beginning('ann', 'one'), NEVER)
  const titles = ['a', 'b', 'c']
  await Promise.all(titles.map((title) => held.append([{ kind: 'meta', title }])))
  const { lines } = await stores.storage.read(held.id)
  assert.deepEqual(
    lines.flatMap((line) => (line.kind === 'meta' ? [line.title] : [])),
    titles,
  )
})

test('LeasedConversation releases its lease when it is disposed, and when it cannot be taken', async () => {
  const stores = newStores(new MemoryStorage())
  const held = await LeasedConversation.lease(stores, beginning('ann', 'one'), NEVER)
  const stop = new AbortController()
  const givenUp = LeasedConversation.lease(stores, beginning('ann', 'never'), stop.signal)
  const waiting = LeasedConversation.lease(stores, beginning('ann', 'two'), NEVER)
  stop.abort()
  await assert.rejects(givenUp, { kind: 'cancelled' })
  await held.append([{ kind: 'entry', role: 'assistant', content: 'yes' }])
  await held[Symbol.asyncDispose]()
  await using next = await waiting
  assert.deepEqual(
    next.history.messages.map(({ content }) => content),
    ['one', 'yes', 'two'],
  )
})

test('LeasedConversation.take() starts another session when the one it waits for is deleted', async () => {
  const stores = newStores(new MemoryStorage())
  const held = await LeasedConversation.lease(stores, beginning('ann', 'one'), NEVER)
  const waiting = LeasedConversation.lease(stores, beginning('ann', 'two'), NEVER)
  await new Promise((resolve) => setImmediate(resolve)) // it waits for the session now
  await stores.storage.deleteSession(held.id)
  await held[Symbol.asyncDispose]()
  await using next = await waiting
  assert.notEqual(next.id, held.id)
  assert.deepEqual(
    next.history.messages.map(({ content }) => content),
    ['two'],
  )
  assert.equal((await stores.storage.read(next.id)).lines.length, 1)
  await using lease = await stores.leases.take(`turn:${held.id}`, NEVER)
  assert.ok(lease, 'nobody holds the session that is gone')
})

test('LeasedConversation caches the 32 conversations used last', async () => {
  const stores = newStores(new MemoryStorage())
  for (let number = 0; number < 40; number++) {
    await using _held = await LeasedConversation.lease(stores, beginning(`sender ${number}`, 'hi'), NEVER)
    await using _again = await LeasedConversation.lease(stores, beginning('often', 'hi'), NEVER)
  }
  const senders = [...stores.cache.values()].map(({ header }) => header.created_by)
  assert.deepEqual([senders.length, senders[0], senders.at(-1)], [32, 'sender 9', 'often'])
})

function beginning(sender: string, content: string): ConversationStart {
  const created_at = '2026-01-01T00:00:00.000Z'
  const header = { v: 1, agent: 'crab', agent_id: 'a', created_by: sender, created_at, cwd: '/' }
  return { pair: { agentId: 'a', sender }, header, first: { kind: 'entry', role: 'user', content } }
}
