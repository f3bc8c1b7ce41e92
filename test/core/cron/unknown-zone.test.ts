import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unknownZone } from '../../../src/core/cron/time-zone.ts'

test('unknownZone() reports a missing zone, and nothing that Node understands', () => {
  for (const value of ['Nope/Nope', ':Nope/Nope', 'Europe/Atlantis']) {
    assert.equal(unknownZone(value), value.replace(':', ''), value)
  }
  for (const value of [
    undefined,
    '',
    'UTC',
    'Europe/Berlin',
    ':Europe/Berlin',
    'CET-1CEST',
    'America/Indiana/Knox',
  ]) {
    assert.equal(unknownZone(value), undefined, `${value}`)
  }
})
