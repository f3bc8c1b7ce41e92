import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, requestMany } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('attach reports the active session as get_session does', async () => {
  await using at = await startTestDispatch([{ parts: ['one'] }, { parts: ['two'] }])
  const pair = { agent: 'crab', sender: 'ann' }
  await at.ask('first')
  await request(at.dispatch, 'newSession', pair, NEVER)
  await at.ask('second')
  for await (const { event } of requestMany(at.dispatch, 'attach', pair, NEVER)) {
    assert.equal(event?.$case, 'state')
    const session = event.value.session!
    assert.equal(session.messageCount, 2)
    assert.deepEqual(session, await request(at.dispatch, 'getSession', { session: session.id }, NEVER))
    break
  }
})
