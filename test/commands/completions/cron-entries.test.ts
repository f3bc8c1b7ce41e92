import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCronEntries } from '../../../src/commands/completions/cron-entries.ts'
import { suggest } from '../../../src/commands/completions/suggest.ts'
import { CRABTALK } from '../../../src/commands/table.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('completeCronEntries() lists entries by id, with their schedule and message', async () => {
  await using home = await temporaryHome()
  assert.deepEqual(await completeCronEntries(home.paths), [])
  const entry = '[[cron]]\nid = 12\nschedule = "*/5 * * * *"\nskill = "feeds"\n'
  await home.write('config/crons.toml', entry)
  assert.deepEqual(await completeCronEntries(home.paths), [
    { value: '12', description: 'every 5 minutes: /feeds' },
  ])
})

test('cron remove, next and run complete the id of an entry', () => {
  for (const verb of ['remove', 'next', 'run']) {
    const suggestion = suggest(CRABTALK, ['cron', verb, ''])
    assert.deepEqual([suggestion.from, 'kind' in suggestion && suggestion.kind], ['list', 'cron'])
  }
})
