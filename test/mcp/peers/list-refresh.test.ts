import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ListRefresh } from '../../../src/mcp/peers/list-refresh.ts'

test('ListRefresh keeps what is said before the first list is there, and reads once then', async (t) => {
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

test('ListRefresh reads once more when nothing was said, and never again', async (t) => {
  const { refresh, wait, reads } = setUp(t)
  refresh.begin()
  await wait(1_999)
  assert.equal(reads(), 0)
  await wait(1)
  assert.equal(reads(), 1)
  await wait(100_000)
  assert.equal(reads(), 1)
})

test('ListRefresh does not hold it against a server that nothing was new when it was read once more', async (t) => {
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

test('ListRefresh waits longer each time when what is said after each reading is nothing', async (t) => {
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

test('ListRefresh hears a server at once that was quiet for as long as it would have to wait', async (t) => {
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

/** Readings that find nothing new, on a clock that stands still. */
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
