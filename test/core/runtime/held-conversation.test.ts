import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Beginning, HeldConversation } from '../../../src/core/runtime/held-conversation.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import type { SessionHeader } from '../../../src/core/storage/types.ts'
import { newPlace } from '../../support/test-node.ts'

const NEVER = new AbortController().signal
const HEADER: SessionHeader = {
  v: 1,
  agent: 'crab',
  agent_id: 'id',
  created_by: 'ann',
  created_at: '2026-01-01T00:00:00.000Z',
  cwd: '/',
}

function saying(content: string): Beginning {
  const pair = { agentId: 'id', sender: 'ann' }
  return { pair, header: HEADER, first: { kind: 'entry', role: 'user', content } }
}

test('HeldConversation.take() begins another session when the one it waits for is deleted', async () => {
  const place = newPlace(new MemoryStorage())
  const first = await HeldConversation.take(place, saying('one'), NEVER)
  const waiting = HeldConversation.take(place, saying('two'), NEVER)
  await place.storage.deleteSession(first.id)
  await first[Symbol.asyncDispose]()
  await using second = await waiting
  assert.notEqual(second.id, first.id)
  assert.deepEqual(
    second.messages.map(({ content }) => content),
    ['two'],
  )
  assert.equal((await place.storage.read(second.id)).lines.length, 1)
})
