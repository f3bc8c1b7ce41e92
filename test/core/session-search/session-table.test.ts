import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckpointPart } from '../../../src/core/search/checkpoint/types.ts'
import { SessionTable } from '../../../src/core/session-search/session-table.ts'
import { makeHeader } from '../storage/samples.ts'

const STAMP = { size: 300, mtimeMs: 1.5, ino: 42 }

test('SessionTable.fromPart() restores the source of toPart(), and never reuses a group', () => {
  const table = filled()
  const again = SessionTable.fromPart(table.toPart())
  assert.deepEqual([...again.all()], [...table.all()])
  assert.equal(again.findById('a'), again.findByGroup(0))
  assert.equal(again.findByGroup(1), undefined)
  assert.equal(again.newGroup(), 3, 'the group of what was removed is not given again')
})

test('SessionTable.fromPart() rejects what toPart() never returns', () => {
  const { facts, arrays } = filled().toPart()
  const rows = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  const row = ['a', 1, 'crab', 'x', 'user', '2026-01-01', '/work']
  const broken: CheckpointPart[] = [
    { facts, arrays: {} },
    { facts, arrays: { ...arrays, numbers: new Float64Array(3) } },
    { facts: {}, arrays },
    { facts, arrays: { ...arrays, texts: rows({}) } },
    { facts, arrays: { ...arrays, texts: rows([row, row]) } },
    { facts, arrays: { ...arrays, texts: rows([row, row.slice(0, 5)]) } },
    { facts, arrays: { ...arrays, texts: rows([row, [null, ...row]]) } },
    { facts, arrays: { numbers: new Float64Array(14).fill(-1), texts: rows([row, ['b', ...row.slice(1)]]) } },
  ]
  for (const [at, part] of broken.entries()) {
    assert.throws(() => SessionTable.fromPart(part), { kind: 'invalid' }, `the ${at}th`)
  }
})

/** Two sessions, and a group that was assigned and removed. */
function filled(): SessionTable {
  const table = new SessionTable()
  const put = (id: string, header = makeHeader(), stamp: typeof STAMP | undefined = STAMP) =>
    table.put({ id, group: table.newGroup(), header, cursor: { bytes: 300, seq: 7 }, stamp })
  put('a', makeHeader({ forked_from: 'b' }))
  table.remove(put('gone'))
  put('c', makeHeader({ created_by: 'é' }), undefined)
  return table
}
