import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTable } from '../../bench/table.ts'

const figures = { wallMs: 20, cpuMs: 10, rssMb: 40, runs: 10 }

test('toTable() shows ratios to the floor of the same run and judges those that have a mark', () => {
  const table = toTable([
    { name: 'floor', figures },
    {
      name: 'ours',
      figures: { wallMs: 25, cpuMs: 20, rssMb: 95.4, runs: 10 },
      marks: { floor: 'floor', wall: 1.25, cpu: 1.5, rssMb: 90 },
      requestBytes: 900,
    },
  ])
  const cells = table.split('\n').map((line) => line.split(/ {3,}/))
  assert.deepEqual(cells, [
    ['', 'wall ms', 'CPU ms', 'peak RSS MB', 'request bytes'],
    ['floor', '20.0', '10.0', '40'],
    ['ours', '25.0 = 1.25 ×  ✓ ≤ 1.25', '20.0 = 2.00 ×  ✗ > 1.5', '95  ✗ > 90', '900'],
  ])
})
