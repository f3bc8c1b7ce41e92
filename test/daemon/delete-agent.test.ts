import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('delete_agent refuses while a turn of the agent runs, says how to stop it, and works afterwards', async () => {
  await using node = await startTestDispatch([{ parts: ['said'], end: 'hang' }])
  await request(node.dispatch, 'createAgent', { name: 'busy' }, NEVER)
  const stop = new AbortController()
  const turn = streamTurn(node.dispatch, { agent: 'busy', sender: 'ann', content: 'hi' }, stop.signal)
  for await (const { event } of turn) {
    if (event?.$case !== 'chunk') continue
    await assert.rejects(request(node.dispatch, 'deleteAgent', { name: 'busy' }, NEVER), {
      kind: 'conflict',
      message: 'Cannot delete the agent "busy": it has a turn running',
      hint: 'wait for the turn to end, or cancel it: crabtalk conversation kill busy/ann',
    })
    stop.abort()
  }
  await request(node.dispatch, 'deleteAgent', { name: 'busy' }, NEVER)
  await assert.rejects(request(node.dispatch, 'getAgent', { name: 'busy' }, NEVER), { kind: 'missing' })
})

test('delete_agent refuses while a turn runs that is not stored', async () => {
  await using node = await startTestDispatch([{ parts: ['said'], end: 'hang' }])
  await request(node.dispatch, 'createAgent', { name: 'busy' }, NEVER)
  const message = { agent: 'busy', sender: 'ann', content: 'hi', options: { ephemeral: true } }
  for await (const { event } of streamTurn(node.dispatch, message, NEVER)) {
    if (event?.$case !== 'chunk') continue
    await assert.rejects(request(node.dispatch, 'deleteAgent', { name: 'busy' }, NEVER), { kind: 'conflict' })
    break
  }
  await request(node.dispatch, 'deleteAgent', { name: 'busy' }, NEVER)
})

test('delete_agent deletes an agent whose file is invalid', async () => {
  await using node = await startTestDispatch([])
  await node.home.write('agents/broken.toml', 'model = 3\n')
  await request(node.dispatch, 'deleteAgent', { name: 'broken' }, NEVER)
  await assert.rejects(request(node.dispatch, 'deleteAgent', { name: 'broken' }, NEVER), { kind: 'missing' })
})
