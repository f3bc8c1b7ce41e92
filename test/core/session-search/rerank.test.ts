import assert from 'node:assert/strict'
import { test } from 'node:test'
import { B, K1 } from '../../../src/core/search/types.ts'
import { rerank } from '../../../src/core/session-search/find-matches.ts'

const hit = (group: number, score: number) => ({ group, score, kind: 0, seq: 1, offset: 0, time: 0 })

test('rerank() adds twice the score of the whole session to a message', () => {
  const terms = { idf: [2, 1], groups: [{ group: 7, length: 30, counts: [3, 0] }] }
  const [first] = rerank([hit(7, 5)], terms, 10)
  assert.equal(first?.score, 5 + 2 * ((2 * (K1 + 1) * 3) / (3 + K1 * (1 - B + (B * 30) / 10))))
})

test('rerank() promotes a session that uses the words throughout, and keeps the order of equals', () => {
  const idf = [1, 1]
  const counts = (group: number, ...found: number[]) => ({ group, length: 100, counts: found })
  const groups = [counts(1, 1, 0), counts(2, 6, 5), counts(3, 1, 0)]
  const order = rerank([hit(1, 3), hit(2, 2.9), hit(3, 3)], { idf, groups }, 100)
  assert.deepEqual(
    order.map(({ group }) => group),
    [2, 1, 3],
  )
})
