import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../support/manual-clock.ts'
import { openTestChat } from '../../support/open-chat.ts'

test('a question that waits an hour is still there, and its card takes the answer', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch hi"}' }
  const clock = new ManualClock()
  await using chat = await openTestChat([{ parts: [call] }, { parts: ['Done.'] }], { timer: clock.timer })
  chat.type('go')
  chat.press('enter')
  await chat.until(({ asks }) => asks.length === 1)
  clock.advance(3_600_000)
  assert.equal(chat.state().asks.length, 1)
  chat.type('1')
  clock.advance(600)
  chat.press('enter')
  await chat.idle()
  const tool = chat.blocks().find((block) => block.kind === 'tool')
  assert.equal(tool?.kind === 'tool' && tool.tool.state, 'done')
})
