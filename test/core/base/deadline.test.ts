import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitAtMost, withDeadline } from '../../../src/core/base/deadline.ts'
import { CrabError } from '../../../src/core/base/errors.ts'

const late = new CrabError('timeout', 'too late')
const deadline = { ms: 1000, toError: () => late }

test('withDeadline() aborts the work with its error after the time limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const work = withDeadline(untilAborted, deadline)
  t.mock.timers.tick(1000)
  await assert.rejects(work, (reason) => reason === late)
})

test("withDeadline() aborts the work with the caller's reason", async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const caller = new AbortController()
  const why = new CrabError('cancelled', 'Ctrl-C')
  const work = withDeadline(untilAborted, deadline, caller.signal)
  caller.abort(why)
  await assert.rejects(work, (reason) => reason === why)
})

for (const outcome of ['succeeded', 'failed']) {
  test(`withDeadline() never aborts the signal of work that has ${outcome}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let retained: AbortSignal | undefined
    const work = withDeadline(async (signal) => {
      retained = signal
      if (outcome === 'failed') throw new Error('broken')
      return 'done'
    }, deadline)
    if (outcome === 'failed') await assert.rejects(work, /broken/)
    else assert.equal(await work, 'done')
    t.mock.timers.tick(5000)
    assert.equal(retained?.aborted, false)
  })
}

test('waitAtMost() gives up on slow work, and passes on the result of other work', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slow = Promise.withResolvers<string>()
  const waiting = waitAtMost(slow.promise, 300)
  t.mock.timers.tick(300)
  assert.equal(await waiting, undefined)
  slow.resolve('later')
  assert.equal(await waitAtMost(slow.promise, 300), 'later')
  await assert.rejects(waitAtMost(Promise.reject(late), 300), (reason) => reason === late)
})

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
