import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { taskLoop } from '../../../src/up/managers/supervisor-task.ts'
import { clearDesired } from '../../../src/up/supervisor/desired-state.ts'
import { makeServiceHome } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const { signal } = new AbortController()

/** Runs the loop as a task does, with only the environment of the system. */
function runLoop([program, ...args]: readonly [string, ...string[]]) {
  const child = spawn(program, args, { env: {}, stdio: 'ignore', detached: true })
  return { child, ended: once(child, 'exit') }
}

test('taskLoop() runs a service with the arguments of its task, and stops and forgets it', async () => {
  await using at = await makeServiceHome()
  const loop = taskLoop(at)
  const spec = at.spec('one', 'exec sleep 1000')
  await loop.end(spec.label, signal)
  assert.equal(await loop.status(spec.label), undefined)
  await loop.writeSpec(spec)
  const task = runLoop(loop.command(spec))
  const { pid } = await at.recorded('one', ({ state }) => state === 'running')
  const status = await loop.status(spec.label)
  assert.deepEqual([status?.state, status?.pid], ['running', pid])
  await loop.end(spec.label, signal)
  assert.deepEqual(await task.ended, [0, null])
  assert.deepEqual(
    [await loop.isRunning(spec.label), (await loop.status(spec.label))?.state],
    [false, 'stopped'],
  )
  const atLogin = runLoop(loop.command(spec)) // it stays stopped until then
  await at.recorded('one', ({ state }) => state === 'running')
  clearDesired(at.folder, 'one')
  await atLogin.ended
  await loop.forget(spec.label)
  assert.equal(existsSync(join(at.folder, 'one.state.json')), false)
})

test('taskLoop() knows how a service ended that it does not restart', async () => {
  await using at = await makeServiceHome()
  const loop = taskLoop(at)
  const spec = at.spec('one', 'exit 78')
  await loop.writeSpec(spec)
  await runLoop(loop.command(spec)).ended
  const { state, lastExit } = (await loop.status(spec.label))!
  assert.deepEqual([await loop.isRunning(spec.label), state, lastExit?.code], [false, 'failed', 78])
  assert.equal(await loop.hasResponded(spec.label), true)
  await loop.writeSpec(spec)
  assert.equal(await loop.hasResponded(spec.label), false)
  assert.equal((await loop.status(spec.label))?.state, 'starting') // its task starts slowly
})

test('taskLoop() ends a service whose loop was killed', async () => {
  await using at = await makeServiceHome()
  const loop = taskLoop(at)
  const spec = at.spec('one', 'exec sleep 1000')
  await loop.writeSpec(spec)
  const task = runLoop(loop.command(spec))
  await at.recorded('one', ({ state }) => state === 'running')
  task.child.kill('SIGKILL')
  await task.ended
  assert.equal((await at.left()).length, 1)
  await loop.end(spec.label, signal)
  await until('nothing is left', async () => (await at.left()).length === 0)
})
