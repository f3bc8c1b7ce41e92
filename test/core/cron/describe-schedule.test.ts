import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSchedule } from '../../../src/core/cron/describe-schedule.ts'

test('describeSchedule() describes simple schedules in words, and returns others as written', () => {
  const words: [string, string][] = [
    ['* * * * * *', 'every second'],
    ['*/1 * * * * *', 'every second'],
    ['*/10 * * * * *', 'every 10 seconds'],
    ['0 */2 * * * *', 'every 2 minutes'],
    ['*/5 * * * *', 'every 5 minutes'],
    ['0 0 * * * *', 'every hour'],
    ['0 0 */6 * * *', 'every 6 hours'],
    ['0 0 * * *', 'at 00:00, every day'],
    ['15 5 9 * * *', 'at 09:05:15, every day'],
    ['0 30 9 * * MON-FRI', 'at 09:30, Monday to Friday'],
    ['0 30 9 * * 1-5', 'at 09:30, Monday to Friday'],
    ['0 30 9 * * sun,3', 'at 09:30, on Sunday, Wednesday'],
    ['0 0 9 1 * *', 'at 09:00, on day 1 of the month'],
    ['0 0 9 L * *', 'at 09:00, on the last day of the month'],
    ['0 */5 * * * MON', 'every 5 minutes, on Monday'],
    ['0 */7 * * * *', '0 */7 * * * *'],
    ['0 0 9 13 * FRI', '0 0 9 13 * FRI'],
    ['0 0 9 * 12 *', '0 0 9 * 12 *'],
    ['0 0 9-17 * * *', '0 0 9-17 * * *'],
    ['*/5 5 * * * *', '*/5 5 * * * *'],
    ['@daily', '@daily'],
  ]
  assert.deepEqual(
    words.map(([text]) => [text, describeSchedule(text)]),
    words,
  )
})
