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

test('toTable() takes off what cannot be avoided before it compares', () => {
  const figures = (wallMs: number) => ({ wallMs, cpuMs: 1, rssMb: 1, runs: 1 })
  const marks = { floor: 'floor', beyond: 'server', wall: 1.5 }
  const table = toTable([
    { name: 'floor', figures: figures(100) },
    { name: 'server', figures: figures(300) },
    { name: 'good', figures: figures(440), marks },
    { name: 'bad', figures: figures(460), marks },
  ])
  assert.match(table, /good +440\.0 = 300\.0 \+ 1\.40 × {2}✓ ≤ 1\.5/)
  assert.match(table, /bad +460\.0 = 300\.0 \+ 1\.60 × {2}✗ > 1\.5/)
})
