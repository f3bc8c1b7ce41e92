import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusalLog } from '../../../src/daemon/tcp/refusal-log.ts'
import { until } from '../../support/until.ts'

test('RefusalLog logs ten lines for an address, then a count when its minute is over', async () => {
  const lines: string[] = []
  const log = (_: string, message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void lines.push(`${message} ${String(fields['client'])}`)
  using refusals = new RefusalLog(log, 20)
  for (let at = 0; at < 1000; at++) refusals.add({ address: 'a', reason: 'x' })
  refusals.add({ address: 'b', reason: 'x' })
  assert.deepEqual(lines, [...Array(10).fill('refused a client a'), 'refused a client b'])
  await until('its time is over', () => lines.length === 12)
  assert.equal(lines.at(-1), 'refused 990 more a')
  refusals.add({ address: 'a', reason: 'x' })
  assert.equal(lines.at(-1), 'refused a client a')
})

test('RefusalLog counts refusals of very many addresses as one', () => {
  const lines: string[] = []
  const log = (_: string, message: string) => void lines.push(message)
  {
    using refusals = new RefusalLog(log)
    for (let at = 0; at < 5000; at++)
      refusals.add({ address: `10.0.${at >> 8}.${at & 255}`, reason: 'x'.repeat(5000) })
  }
  assert.equal(lines.length, 256 + 10 + 1)
  assert.equal(lines.at(-1), `refused ${5000 - 256 - 10} more`)
})
