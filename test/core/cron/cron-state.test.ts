import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CronState,
  EMPTY_CRON_STATE,
  readCronState,
  StateWriter,
  writeCronState,
} from '../../../src/core/cron/cron-state.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('readCronState() returns what was written, or the empty state for invalid data', async () => {
  await using home = await temporaryHome()
  const path = `${home.paths.run}/cron-state.json`
  assert.deepEqual(await readCronState(path), EMPTY_CRON_STATE)
  const last = { due: 1, ended: 2, outcome: 'failed', error: { kind: 'missing', message: 'Cannot' } } as const
  const counts = { fired: 3, failed: 1, failing: 1, skipped: 0, missed: 0 }
  const state: CronState = {
    v: 1,
    highest: 4,
    entries: [{ id: 2, next: 5, last, ...counts }],
    gone: [{ id: 1, content: 'x', agent: 'crab', last }],
  }
  await writeCronState(path, state)
  assert.deepEqual(await readCronState(path), state)
  for (const text of ['', '{', '{"v":2}', '[]', '{"v":1,"highest":"x"}']) {
    await home.write('run/cron-state.json', text)
    assert.deepEqual(await readCronState(path), EMPTY_CRON_STATE, text)
  }
})

test('StateWriter writes one state at a time, and later changes with the next', async () => {
  const gates: PromiseWithResolvers<void>[] = []
  const failures: string[] = []
  const writer = new StateWriter(
    () => {
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      return gate.promise
    },
    ({ message }) => failures.push(message),
  )
  const first = writer.flush()
  const second = writer.flush()
  await Promise.resolve()
  assert.equal(gates.length, 1)
  gates[0]!.reject(new Error('no'))
  await assert.rejects(first, /no/)
  assert.equal(gates.length, 2)
  gates[1]!.resolve()
  await second
  assert.deepEqual(failures, [])
})
