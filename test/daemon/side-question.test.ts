import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }

test('a side question sees the conversation, has no tools, and leaves no trace', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  await node.ask('the door is green')
  const before = await stored(node)
  const events = await node.ask('which colour?', { options: { side: true } })
  assert.equal(events.at(-1)?.$case, 'end')
  const { json, text } = node.server.requests[1]!
  assert.match(text, /the door is green.*<side_question>\\nwhich colour\?\\n<\/side_question>/)
  assert.match(text, /The last message is a side question/)
  assert.equal(json['tools'], undefined)
  assert.deepEqual(await stored(node), before)
  await node.ask('and now?')
  assert.doesNotMatch(node.server.requests[2]!.text, /which colour|side question/)
})

test('a side question is answered beside a running turn, and interrupting the turn leaves it alone', async () => {
  const turn = Promise.withResolvers<void>()
  const aside = Promise.withResolvers<void>()
  await using node = await startTestDispatch(({ text }) =>
    text.includes('side_question')
      ? { parts: [aside.promise, 'Green.'] }
      : { parts: ['One', turn.promise, '.'] },
  )
  const running = node.ask('paint the door green')
  await until('the turn runs', () => node.server.requests.length === 1)
  const asking = node.ask('which colour?', { options: { side: true } })
  await until('the side question is asked', () => node.server.requests.length === 2)
  await request(node.dispatch, 'kill', PAIR, NEVER)
  assert.equal((await running).at(-1)?.$case, 'end')
  aside.resolve()
  const answer = (await asking).flatMap((event) => (event.$case === 'chunk' ? [event.value.content] : []))
  assert.deepEqual(answer, ['Green.'])
  turn.resolve()
})

test('two side questions know nothing of one another, and one needs no conversation', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  await node.ask('first aside', { options: { side: true } })
  await node.ask('second aside', { options: { side: true } })
  assert.doesNotMatch(node.server.requests[1]!.text, /first aside/)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  assert.deepEqual(conversations, [])
})

async function stored({ dispatch }: TestDispatch) {
  const { conversations } = await request(dispatch, 'listConversations', { agent: 'crab' }, NEVER)
  const session = conversations[0]!.filePath
  return await request(dispatch, 'listMessages', { session, offset: 0, limit: 100 }, NEVER)
}
