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

test('attach reports the size that the provider counted last, until the conversation goes back before it', async () => {
  const usage = (input: number) => ({ input, output: 10 })
  await using at = await startTestDispatch([
    { parts: ['one'], usage: usage(100) },
    { parts: ['two'], usage: usage(200) },
  ])
  const pair = { agent: 'crab', sender: 'ann' }
  const readSize = async () => {
    for await (const { event } of requestMany(at.dispatch, 'attach', pair, NEVER)) {
      assert.equal(event?.$case, 'state')
      return event.value.contextTokens
    }
  }
  assert.equal(await readSize(), undefined)
  await at.ask('first')
  assert.equal(await readSize(), 110)
  await at.ask('second')
  assert.equal(await readSize(), 210)
  const { id: session } = await request(at.dispatch, 'getSession', pair, NEVER)
  const { messages } = await request(at.dispatch, 'listMessages', { session, offset: 0, limit: 10 }, NEVER)
  await request(at.dispatch, 'rewind', { session, to: messages[2]!.seq }, NEVER)
  assert.equal(await readSize(), 110)
})
