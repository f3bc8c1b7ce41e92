import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTable } from '../../bench/table.ts'

const columns = [
  { key: 'wall', title: 'wall ms', digits: 1 },
  { key: 'rss', title: 'RSS MB' },
]

test('toTable() shows ratios to the floor of the same run and judges those that have a mark', () => {
  const table = toTable(columns, [
    { name: 'floor', values: { wall: 20, rss: 40 } },
    {
      name: 'ours',
      values: { wall: 25, rss: 95.4 },
      marks: { wall: { floor: 'floor', most: 1.25 }, rss: { most: 90 } },
    },
    { name: 'peer', values: { wall: 60, rss: Number.NaN }, marks: { wall: { floor: 'floor' } } },
  ])
  assert.deepEqual(splitCells(table), [
    ['', 'wall ms', 'RSS MB'],
    ['floor', '20.0', '40'],
    ['ours', '25.0 = 1.25 ×  ✓ ≤ 1.25', '95  ✗ > 90'],
    ['peer', '60.0 = 3.00 ×'],
  ])
})

test('toTable() subtracts the unavoidable part before it compares', () => {
  const marks = { wall: { floor: 'floor', beyond: 'server', most: 1.5 } }
  const table = toTable(columns, [
    { name: 'floor', values: { wall: 100 } },
    { name: 'server', values: { wall: 300 } },
    { name: 'good', values: { wall: 440 }, marks },
    { name: 'bad', values: { wall: 460 }, marks },
  ])
  assert.match(table, /good +440\.0 = 300\.0 \+ 1\.40 × {2}✓ ≤ 1\.5/)
  assert.match(table, /bad +460\.0 = 300\.0 \+ 1\.60 × {2}✗ > 1\.5/)
})

test('toTable() judges what is above the floor', () => {
  const marks = { wall: { floor: 'floor', above: true, most: 30 } }
  const table = toTable(columns, [
    { name: 'floor', values: { wall: 30 } },
    { name: 'good', values: { wall: 60 }, marks },
    { name: 'bad', values: { wall: 60.1 }, marks },
    { name: 'alone', values: { wall: 5 }, marks: { wall: { floor: 'missing', most: 1 } } },
  ])
  assert.deepEqual(splitCells(table).slice(2), [
    ['good', '60.0 = 30.0 + 30.0  ✓ ≤ 30'],
    ['bad', '60.1 = 30.0 + 30.1  ✗ > 30'],
    ['alone', '5.0'],
  ])
})

test('toTable() shows in its row why a program was not measured', () => {
  const table = toTable(columns, [
    { name: 'floor', values: { wall: 20, rss: 40 } },
    { name: 'peer', values: { wall: Number.NaN }, failure: 'it did not start' },
  ])
  assert.deepEqual(splitCells(table).at(-1), ['peer', 'not measured: it did not start'])
})

test('toTable() transposes a table with many columns', () => {
  const many = Array.from({ length: 7 }, (_, at) => ({ key: `k${at}`, title: `figure ${at}` }))
  const table = toTable(many, [{ name: 'ours', values: { k0: 1, k6: 7 } }])
  assert.deepEqual(splitCells(table).slice(0, 2), [
    ['', 'ours'],
    ['figure 0', '1'],
  ])
  assert.equal(splitCells(table).at(-1)!.join(' '), 'figure 6 7')
})

function splitCells(table: string): string[][] {
  return table.split('\n').map((line) => line.split(/ {3,}/))
}
