import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastPrompt, makeTalk, readSessions, type Talk } from '../support/talk.ts'

const TIMES = 25
const AT_ONCE = 4

test(`${TIMES} kills during a streamed answer lose nothing acknowledged, and the next send works`, async () => {
  await using talk = await makeTalk((request) =>
    lastPrompt(request).endsWith('go on')
      ? { parts: ['fine'] }
      : { parts: Array.from({ length: 400 }, (_, index) => `word ${index} `), paceMs: 2 },
  )
  const numbers = Array.from({ length: TIMES }, (_, index) => index)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop())
        await killAndGoOn(talk, number)
    }),
  )
  const sessions = await readSessions(talk.home)
  assert.equal(sessions.length, TIMES)
  for (const { header, said } of sessions) {
    const name = String(header['created_by'])
    assert.equal(said[0], `user: hello ${name}`)
    assert.deepEqual(said.slice(-2), ['user: go on', 'assistant: fine'])
    assert.equal(said.length, 3, 'of the killed turn there is the message')
  }
  assert.deepEqual(await talk.processesLeft(), [])
  const { stdout } = await talk.shell('ls "$CRABTALK_HOME/run/proc"; find "$CRABTALK_HOME" -name "*.tmp"')
  assert.equal(stdout, '')
})

/** Kills the process after twice as many words as its number; then continues the same conversation. */
async function killAndGoOn(talk: Talk, number: number): Promise<void> {
  const running = talk.startSend(['-s', `${number}`, `hello ${number}`])
  await running.prints(new RegExp(`word ${2 * number} `))
  running.child.kill('SIGKILL')
  const { code, signal } = await running.finished
  assert.deepEqual([code, signal], [137, 'SIGKILL'])
  const { stdout, stderr, code: next } = await talk.send(['-s', `${number}`, 'go on'])
  assert.deepEqual([stdout, stderr, next], ['fine\n', '', 0])
}
