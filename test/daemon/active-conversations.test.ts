import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }

test('list_active_conversations shows each running turn and its sender until the turn ends', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  await request(node.dispatch, 'compact', PAIR, NEVER)
  const { id: session } = await request(node.dispatch, 'getSession', PAIR, NEVER)
  await request(node.dispatch, 'setTitle', { session, title: 'Crabs' }, NEVER)
  assert.deepEqual(await listActive(node), [])
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'two' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    assert.deepEqual(await listActive(node), [
      { ...PAIR, ...CALM, messageCount: 3, title: 'Crabs', cwd: node.home.paths.home, preview: 'one' },
    ])
    assert.equal((await listActive(node, PAIR)).length, 1)
    assert.deepEqual(await listActive(node, { sender: 'Ann' }), [])
    assert.deepEqual(await listActive(node, { agent: 'critic' }), [])
  }
  assert.deepEqual(await listActive(node), [])
})

test('list_active_conversations counts the messages of a conversation that is not stored', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const message = { ...PAIR, content: 'one', options: { ephemeral: true } }
  for await (const { event } of streamTurn(node.dispatch, message, NEVER)) {
    if (event?.$case !== 'chunk') continue
    assert.deepEqual(await listActive(node), [
      { ...PAIR, ...CALM, messageCount: 1, title: '', cwd: '', preview: '' },
    ])
  }
})

test('list_active_conversations says that a turn waits for its model, until it answers', async () => {
  const busy = { status: 529, headers: { 'retry-after-ms': '1' }, body: 'busy' }
  await using node = await startTestDispatch([busy, { parts: ['yes'] }])
  const seen: string[] = []
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'one' }, NEVER)) {
    if (event?.$case === 'retry' || event?.$case === 'chunk') seen.push((await listActive(node))[0]!.activity)
  }
  assert.deepEqual(seen, ['waiting for the model, attempt 2 of 3', 'yes'])
})

const CALM = { detached: false, asks: 0, activity: 'yes' }

async function listActive({ dispatch }: TestDispatch, filter: object = {}) {
  const { conversations } = await request(dispatch, 'listActiveConversations', filter, NEVER)
  return conversations.map(({ aliveSecs, runId, session, ...rest }) => {
    assert.ok(aliveSecs >= 0 && aliveSecs < 60)
    assert.match(`${runId} ${session}`, /^\w{26} [\w-]{43}$/)
    return rest
  })
}
