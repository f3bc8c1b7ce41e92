import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttledProgress } from '../../../src/mcp/hook/progress.ts'

test('throttledProgress() reports the first message, then one per 100 ms, and always the last', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const reports: unknown[] = []
  const { onProgress, ...rest } = throttledProgress(({ progress }) => reports.push(progress))
  for (let progress = 1; progress <= 1_000; progress++) onProgress({ progress })
  assert.deepEqual(reports, [1])
  t.mock.timers.tick(100)
  assert.deepEqual(reports, [1, 1_000])
  onProgress({ progress: 1_001 })
  assert.deepEqual(reports, [1, 1_000])
  rest[Symbol.dispose]()
  t.mock.timers.tick(1_000)
  assert.deepEqual(reports, [1, 1_000, 1_001])
})

test('throttledProgress() reports a percentage when the server sends no message', () => {
  const reports: unknown[] = []
  for (const report of [
    { progress: 3, total: 10 },
    { progress: 4 },
    { progress: 5, message: 'a\u001b[2Jb' },
  ]) {
    using throttled = throttledProgress(({ message }) => reports.push(message))
    throttled.onProgress(report)
  }
  assert.deepEqual(reports, ['3 of 10', '4', 'ab'])
})
