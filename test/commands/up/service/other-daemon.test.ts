import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { getuid, pid } from 'node:process'
import { test } from 'node:test'
import { endHint } from '../../../../src/commands/up/service/other-daemon.ts'

test('a manually started process of the same user can be ended', async () => {
  const uid = getuid?.() ?? -1
  assert.equal(await endHint('daemon', pid, { uid }), 'end it with crabtalk daemon stop')
  assert.equal(await endHint('cron', pid, { uid }), 'end it with Ctrl+C in its terminal')
  assert.equal(await endHint('cron', undefined, { uid }), 'end it with Ctrl+C in its terminal')
})

test("root is told to leave a process of another user, in that user's home, to that user", async () => {
  const uid = getuid?.() ?? -1
  const hint = existsSync('/proc/self')
    ? `it belongs to the user ${uid}: run crabup as that user`
    : 'end it with crabtalk daemon stop'
  assert.equal(await endHint('daemon', pid, { uid: uid + 1 }), hint)
})
