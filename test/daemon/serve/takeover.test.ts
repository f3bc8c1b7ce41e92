import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { failedDaemon, spawnDaemon, startTestDaemon } from '../../support/daemon.ts'
import { logOf, talkingHome } from '../../support/daemon-home.ts'

test('a daemon that stays takes the place of one that a command has started, once its turns have ended', async () => {
  await using home = await talkingHome([{ parts: ['a', 'b', 'c'], paceMs: 200 }])
  await using onDemand = await startTestDaemon(home, { args: ['--idle-exit', '10m'] })
  const said: string[] = []
  let staying: ReturnType<typeof startTestDaemon> | undefined
  for await (const { event } of streamTurn(onDemand.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    staying ??= startTestDaemon(home)
    said.push(event.value.content)
  }
  assert.equal(said.join(''), 'abc')
  await using daemon = await staying!
  assert.deepEqual(await onDemand.ended, { code: 0, stderr: '' })
  const own = (await logOf(home)).filter(({ pid }) => pid === daemon.pid)
  assert.equal(own[1]?.message, `replaced process ${onDemand.pid}, which a command had started`)
})

test('a daemon that stays is refused by one that stays, and one that a command starts by any', async () => {
  await using home = await talkingHome([])
  await using daemon = await startTestDaemon(home)
  for (const args of [[], ['--idle-exit', '10m']]) {
    const { code, stderr } = await failedDaemon(home, { args })
    assert.deepEqual([code, stderr.includes(`process ${daemon.pid} has been the daemon of`)], [1, true])
  }
  daemon.kill('SIGTERM')
  await daemon.ended
  await using onDemand = await startTestDaemon(home, { args: ['--idle-exit', '10m'] })
  const { code, stderr } = await failedDaemon(home, { args: ['--idle-exit', '10m'] })
  assert.deepEqual([code, stderr.includes(`process ${onDemand.pid} has been the daemon of`)], [1, true])
})

test('a daemon that waits for the turns of another ends by SIGTERM, and the other goes on', async () => {
  await using home = await talkingHome([{ parts: ['Half'], end: 'hang' }])
  await using onDemand = await startTestDaemon(home, { args: ['--idle-exit', '10m'] })
  for await (const { event } of streamTurn(onDemand.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    const { child, ended } = spawnDaemon(home)
    child.stderr.once('data', () => child.kill('SIGTERM'))
    const said = `crabtalk: waiting for the turns of process ${onDemand.pid}, which a command started\n`
    assert.deepEqual(await ended, { code: 0, stderr: said })
    break
  }
  assert.equal((await request(onDemand.dispatch, 'getStats', {}, NEVER)).pid, onDemand.pid)
})

const NEVER = new AbortController().signal
