import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startClock } from '../../../src/mcp/connection/request-clock.ts'

test('startClock() aborts after the time limit of a request, which each progress message resets', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const reported: number[] = []
  const onProgress = ({ progress }: { progress: number }) => void reported.push(progress)
  using clock = startClock({ idleMs: 1_000, totalMs: 2_500, onProgress })
  for (const progress of [1, 2]) {
    t.mock.timers.tick(900)
    clock.progress.onprogress!({ progress })
  }
  assert.deepEqual([reported, clock.signal.aborted], [[1, 2], false])
  t.mock.timers.tick(900) // 2,700 in all
  assert.match(String(clock.signal.reason), /it did not answer within 2\.5 s/)
})

test('startClock() stops while it is paused, until the last pause is over', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  using clock = startClock({ idleMs: 1_000 })
  const [one, two] = [clock.pause(), clock.pause()]
  t.mock.timers.tick(60_000)
  one[Symbol.dispose]()
  t.mock.timers.tick(60_000)
  assert.equal(clock.signal.aborted, false)
  two[Symbol.dispose]()
  t.mock.timers.tick(1_000)
  assert.match(String(clock.signal.reason), /it did not answer within 1 s/)
})

test('startClock() never continues once it is disposed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = startClock({ idleMs: 1_000 })
  const pause = clock.pause()
  clock[Symbol.dispose]()
  pause[Symbol.dispose]()
  t.mock.timers.tick(60_000)
  assert.equal(clock.signal.aborted, false)
})
