import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StopController } from '../../src/cli/stop-controller.ts'
import { CrabError, toCrabError } from '../../src/core/base/errors.ts'
import { openFifo } from '../support/fifo.ts'
import { makeTestHost } from '../support/test-host.ts'

const LIMITS = { timeoutMs: 600_000, idleTimeoutMs: 120_000 }

for (const [name, exit] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  test(`StopController cancels on ${name} and exits with ${exit} on the second`, async () => {
    await using at = await makeTestHost()
    using stop = new StopController({ host: at.host, ...LIMITS })
    at.signal(name)
    assert.deepEqual([stop.exit, stop.signal.aborted, at.left], [exit, true, []])
    const { kind, message } = toCrabError(stop.signal.reason)
    assert.deepEqual([kind, message], ['cancelled', `Cancelled by ${name}`])
    at.signal(name)
    assert.deepEqual(at.left, [exit])
  })
}

test('StopController exits at the second signal with the code of that one', async () => {
  await using at = await makeTestHost()
  using _stop = new StopController({ host: at.host, ...LIMITS })
  at.signal('SIGINT')
  at.signal('SIGTERM')
  assert.deepEqual(at.left, [143])
})

test('StopController exits within 500 ms of a signal when the run does not end, and only then', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using slow = await makeTestHost()
  using _stop = new StopController({ host: slow.host, ...LIMITS })
  slow.signal('SIGINT')
  context.mock.timers.tick(500)
  assert.deepEqual(slow.left, [130])
  await using quick = await makeTestHost()
  {
    using stop = new StopController({ host: quick.host, ...LIMITS })
    quick.signal('SIGINT')
    assert.equal(stop.exit, 130)
  }
  context.mock.timers.tick(10_000)
  assert.deepEqual([quick.left, quick.listeners()], [[], 0])
})

test('StopController cancels quietly, with 141, when the reader of standard output goes away', async () => {
  using fifo = openFifo()
  await using at = await makeTestHost({ stdout: fifo.input })
  using stop = new StopController({ host: at.host, ...LIMITS })
  fifo.hangUp()
  at.host.stdout.write('text')
  await at.host.stdout.flush()
  assert.deepEqual([stop.exit, stop.signal.aborted], [141, true])
  assert.equal(toCrabError(stop.signal.reason).kind, 'cancelled')
})

test('StopController keeps the code of the signal when the reader goes away as well', async () => {
  using fifo = openFifo()
  await using at = await makeTestHost({ stdout: fifo.input })
  using stop = new StopController({ host: at.host, ...LIMITS })
  at.signal('SIGTERM')
  fifo.hangUp()
  at.host.stdout.write('text')
  await at.host.stdout.flush()
  assert.equal(stop.exit, 143)
})

test('StopController ends a run at its time limit, even while events arrive', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost()
  using stop = new StopController({ host: at.host, timeoutMs: 10_000, idleTimeoutMs: 6_000 })
  for (const ms of [5_000, 4_999]) {
    stop.pauseIdle()
    stop.resetIdle()
    context.mock.timers.tick(ms)
  }
  assert.equal(stop.signal.aborted, false)
  context.mock.timers.tick(1)
  const { kind, message, hint } = toCrabError(stop.signal.reason)
  assert.deepEqual([kind, hint, stop.exit], ['timeout', 'allow more time with --timeout', undefined])
  assert.match(message, /10 s$/)
})

test('StopController ends a run whose model is silent, but not while it waits for something else', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost()
  using stop = new StopController({ host: at.host, timeoutMs: 0, idleTimeoutMs: 1_000 })
  context.mock.timers.tick(60_000) // the model has not been called yet
  for (const ms of [999, 999, 60_000]) {
    stop.pauseIdle()
    if (ms < 1_000) stop.resetIdle() // otherwise the run waits for a tool, or for a slow reader
    context.mock.timers.tick(ms)
  }
  assert.equal(stop.signal.aborted, false)
  stop.resetIdle()
  context.mock.timers.tick(1_000)
  const { kind, hint } = toCrabError(stop.signal.reason)
  assert.deepEqual([kind, hint], ['timeout', 'allow more time with --idle-timeout'])
})

test('StopController without limits never ends a run', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost()
  using stop = new StopController({ host: at.host, timeoutMs: 0, idleTimeoutMs: 0 })
  stop.resetIdle()
  context.mock.timers.tick(2 ** 31 - 1)
  assert.equal(stop.signal.aborted, false)
})

test("StopController cancels when its caller's signal is aborted, without ending the program", async () => {
  await using at = await makeTestHost()
  for (const isEarly of [true, false]) {
    const request = new AbortController()
    const reason = new CrabError('cancelled', 'Cancelled by the client')
    if (isEarly) request.abort(reason)
    using stop = new StopController({ host: at.host, ...LIMITS, signal: request.signal })
    request.abort(reason)
    assert.deepEqual([stop.signal.reason, stop.exit, at.left], [reason, undefined, []])
  }
})

test('StopController does not count the time of questions, however many there are', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost()
  let time = 0
  const pass = (ms: number) => {
    time += ms
    context.mock.timers.tick(ms)
  }
  using stop = new StopController({ host: at.host, timeoutMs: 10_000, idleTimeoutMs: 0, now: () => time })
  pass(6_000)
  stop.askOpened()
  pass(60_000)
  stop.askOpened()
  stop.askClosed()
  pass(60_000)
  stop.askClosed()
  pass(3_999)
  assert.equal(stop.signal.aborted, false)
  pass(1)
  const { kind, message } = toCrabError(stop.signal.reason)
  assert.deepEqual([kind, message], ['timeout', 'Cannot finish: the run took longer than 10 s'])
})
