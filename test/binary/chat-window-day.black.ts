import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playWindowDay } from '../support/window-day.ts'

test('two windows in two projects keep their messages and directories apart, also after /new and kill -9', async () => {
  const day = await playWindowDay(7)
  assert.deepEqual(day, { messages: 14, killedWindows: 1, killedDaemons: 0, backgrounds: 1 })
})
