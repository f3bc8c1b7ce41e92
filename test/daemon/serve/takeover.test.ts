import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { failedDaemon, spawnDaemon, startTestDaemon } from '../../support/daemon.ts'
import { makeModelHome, readDaemonLog } from '../../support/daemon-home.ts'

test('a permanent daemon takes over from an on-demand one once its turns have ended', async () => {
  await using home = await makeModelHome([{ parts: ['a', 'b', 'c'], paceMs: 200 }])
  await using onDemand = await startTestDaemon(home, { args: ['--idle-exit', '10m'] })
  const notice: string[] = []
  let staying: ReturnType<typeof startTestDaemon> | undefined
  for await (const { event } of streamTurn(onDemand.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    staying ??= startTestDaemon(home)
    notice.push(event.value.content)
  }
  assert.equal(notice.join(''), 'abc')
  await using daemon = await staying!
  assert.deepEqual(await onDemand.ended, { code: 0, stderr: '' })
  const own = (await readDaemonLog(home)).filter(({ pid }) => pid === daemon.pid)
  assert.equal(own[1]?.message, `replaced process ${onDemand.pid}, which a command had started`)
})

test('a permanent daemon is refused while a permanent one runs, and an on-demand one while any runs', async () => {
  await using home = await makeModelHome([])
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

test('a daemon that waits to take over ends on SIGTERM, and the other continues', async () => {
  await using home = await makeModelHome([{ parts: ['Half'], end: 'hang' }])
  await using onDemand = await startTestDaemon(home, { args: ['--idle-exit', '10m'] })
  for await (const { event } of streamTurn(onDemand.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    const { child, ended } = spawnDaemon(home)
    child.stderr.once('data', () => child.kill('SIGTERM'))
    const notice = `crabtalk: waiting for the turns of process ${onDemand.pid}, which a command started\n`
    assert.deepEqual(await ended, { code: 0, stderr: notice })
    break
  }
  assert.equal((await request(onDemand.dispatch, 'getStats', {}, NEVER)).pid, onDemand.pid)
})

const NEVER = new AbortController().signal
