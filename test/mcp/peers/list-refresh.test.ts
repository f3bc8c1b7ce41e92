import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ListRefresh } from '../../../src/mcp/peers/list-refresh.ts'

test('ListRefresh keeps a notification from before the first list, and reads once after it', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.notify()
  refresh.notify()
  await wait(10_000)
  assert.equal(reads(), 0)
  refresh.begin()
  await wait(300)
  assert.equal(reads(), 1)
  await wait(10_000)
  assert.equal(reads(), 1)
})

test('ListRefresh reads once more without a notification, and never again', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.begin()
  await wait(1_999)
  assert.equal(reads(), 0)
  await wait(1)
  assert.equal(reads(), 1)
  await wait(100_000)
  assert.equal(reads(), 1)
})

test('ListRefresh does not slow down a server whose second read found nothing new', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.begin()
  await wait(2_000)
  refresh.notify()
  await wait(300)
  assert.equal(reads(), 2)
})

test('ListRefresh reads nothing after it was stopped', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.begin()
  refresh.stop()
  await wait(10_000)
  assert.equal(reads(), 0)
})

test('ListRefresh waits longer after each notification that brought nothing new', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.begin()
  for (const [count, delayMs] of [300, 1_200, 4_800, 19_200, 60_000, 60_000].entries()) {
    refresh.notify()
    await wait(delayMs - 1)
    assert.equal(reads(), count)
    await wait(1)
    assert.equal(reads(), count + 1)
  }
})

test('ListRefresh handles a server immediately that was quiet for the length of its delay', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.begin()
  for (const delayMs of [300, 1_200, 4_800]) {
    refresh.notify()
    await wait(delayMs)
  }
  await wait(19_201)
  refresh.notify()
  await wait(300)
  assert.equal(reads(), 4)
})

/** Starts a ListRefresh whose reads find nothing new, on a clock that only the test advances. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  let count = 0
  const read = async () => {
    count++
    return false
  }
  const refresh = new ListRefresh({ read, now: () => Date.now() })
  t.after(() => refresh.stop())
  return {
    refresh,
    reads: () => count,
    async wait(ms: number) {
      t.mock.timers.tick(ms)
      await nextTurn()
    },
  }
}
