import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BruteForce } from './brute-force.ts'

const document = (group: number, kind: number, text: string) => ({
  row: { group, kind, seq: group, offset: 0, time: group },
  text,
})

test('BruteForce scores as BM25 does by hand', () => {
  const brute = new BruteForce([
    document(1, 0, 'cron cron job'),
    document(2, 1, 'job'),
    document(3, 0, 'word word word word'),
  ])
  const [hit, ...others] = brute.search({ text: 'cron', limit: 9, weights: [2, 1] })
  const idf = Math.log((3 - 1 + 0.5) / (1 + 0.5) + 1)
  const norm = 1.2 * (1 - 0.75 + (0.75 * 3) / (8 / 3))
  assert.ok(Math.abs(hit!.score - (2 * idf * 2.2 * 2) / (2 + norm)) < 1e-12)
  assert.deepEqual(others, [])
})

test('BruteForce ranks equal scores by time, seq, group and kind, collapses groups, and applies filters', () => {
  const brute = new BruteForce([document(1, 0, 'cron'), document(1, 1, 'cron'), document(2, 0, 'cron')])
  const kinds = (query: object) =>
    brute.search({ text: 'cron', limit: 9, ...query }).map(({ group, kind }) => [group, kind])
  assert.deepEqual(kinds({}), [
    [2, 0],
    [1, 1],
    [1, 0],
  ])
  assert.deepEqual(kinds({ collapse: true }), [
    [2, 0],
    [1, 1],
  ])
  assert.deepEqual(kinds({ weights: [1, 0.5], collapse: true }), [
    [2, 0],
    [1, 0],
  ])
  assert.deepEqual(kinds({ limit: 1 }), [[2, 0]])
  assert.deepEqual(kinds({ until: 2 }), [
    [1, 1],
    [1, 0],
  ])
  assert.deepEqual(kinds({ since: 2 }), [[2, 0]])
  assert.deepEqual(kinds({ accepts: (group: number) => group === 1, limit: 1 }), [[1, 1]])
})
