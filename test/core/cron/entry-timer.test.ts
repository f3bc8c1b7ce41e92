import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { type Cron, parseCronEntry } from '../../../src/core/cron/cron-entry.ts'
import { EntryTimer } from '../../../src/core/cron/entry-timer.ts'

const T0 = Date.UTC(2026, 0, 1, 10)
const SECOND = 1000
const HOUR = 3_600_000

test('EntryTimer returns each time once, when it has come', () => {
  const timer = new EntryTimer(cron(), T0 + 200)
  assert.equal(timer.next, T0 + SECOND)
  assert.equal(timer.take(T0 + 999), undefined)
  assert.deepEqual(timer.take(T0 + SECOND + 3), { due: T0 + SECOND, missed: 0, isOnTime: true })
  assert.equal(timer.take(T0 + SECOND + 3), undefined)
  assert.equal(timer.next, T0 + 2 * SECOND)
})

test('EntryTimer fires once for all times that a short pause missed', () => {
  const timer = new EntryTimer(cron(), T0)
  assert.deepEqual(timer.take(T0 + 4 * SECOND + 10), { due: T0 + 4 * SECOND, missed: 3, isOnTime: true })
  assert.equal(timer.next, T0 + 5 * SECOND)
})

test('EntryTimer does not catch up after the machine slept', () => {
  const timer = new EntryTimer(cron({ schedule: '0 0 * * * *' }), T0)
  const woken = T0 + 5 * HOUR + 11 * SECOND
  assert.deepEqual(timer.take(woken), { due: T0 + 5 * HOUR, missed: 5, isOnTime: false })
  assert.equal(timer.next, T0 + 6 * HOUR)
  const everySecond = new EntryTimer(cron(), T0)
  assert.equal(everySecond.take(woken)?.isOnTime, false)
  assert.ok(everySecond.next! > woken)
})

test('EntryTimer restarts for an edited entry, and continues for an unchanged one', () => {
  const timer = new EntryTimer(cron({ schedule: '0 0 * * * *' }), T0)
  assert.equal(timer.update(cron({ schedule: '0 0 * * * *' }), T0 + HOUR + SECOND), false)
  assert.equal(timer.next, T0 + HOUR)
  assert.equal(timer.update(cron({ schedule: '0 0 * * * *', content: 'other' }), T0 + HOUR + SECOND), true)
  assert.equal(timer.next, T0 + 2 * HOUR)
  assert.equal(timer.entry.content, 'other')
})

test('EntryTimer continues from the new time when the clock is set back', () => {
  const timer = new EntryTimer(cron({ schedule: '0 0 * * * *' }), T0)
  timer.restart(T0 - 3 * HOUR)
  assert.equal(timer.next, T0 - 2 * HOUR)
})

function cron(more: JsonObject = {}): Cron {
  process.env['TZ'] = 'UTC'
  const { cron, findings } = parseCronEntry({ id: 1, schedule: '* * * * * *', content: 'hi', ...more })
  assert.deepEqual(findings, [])
  return cron!
}
