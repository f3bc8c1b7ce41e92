import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeScheduler } from './scheduler-fixture.ts'

test('Scheduler.restart() uses the local clock of that time', async () => {
  process.env['TZ'] = 'UTC'
  const text = '[[cron]]\nid = 1\nschedule = "0 0 9 * * *"\ncontent = "hello"\n'
  await using stage = await makeScheduler(text)
  const hour = () => new Date(stage.entry(1).next!).getUTCHours()
  assert.equal(hour(), 9)
  process.env['TZ'] = 'Asia/Tokyo'
  assert.equal(hour(), 9)
  stage.scheduler.restart()
  assert.equal(hour(), 0)
})
