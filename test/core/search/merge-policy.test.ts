import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseMerge, type SegmentSize } from '../../../src/core/search/merge-policy.ts'
import { draws } from '../../support/random-documents.ts'

const LIMITS = { documents: 65_536, postings: 2 ** 24 }

test('chooseMerge() leaves few or large segments alone', () => {
  assert.equal(chooseMerge([], LIMITS), undefined)
  assert.equal(chooseMerge([1, 1, 1].map(full), LIMITS), undefined)
  assert.equal(chooseMerge([65_536, 65_536, 65_536, 65_536, 65_536].map(full), LIMITS), undefined)
  assert.equal(chooseMerge([40_000, 40_000, 40_000, 40_000].map(full), LIMITS), undefined)
})

test('chooseMerge() merges four of a size, the smallest sizes first, up to the limit', () => {
  assert.equal(chooseMerge([20, 4, 3, 20, 2, 20, 2, 300].map(full), LIMITS), undefined)
  assert.deepEqual(chooseMerge([20, 20, 3, 20, 2, 20, 2, 3].map(full), LIMITS), [2, 4, 6, 7])
  assert.deepEqual(chooseMerge([16_384, 16_384, 16_384, 16_384].map(full), LIMITS), [0, 1, 2, 3])
  assert.deepEqual(chooseMerge([30_000, 17_000, 18_000, 20_000].map(full), LIMITS), [1, 2, 3])
  const wordy = [100, 100, 100, 100].map((live) => ({ ...full(live), postings: 6_000_000 }))
  assert.deepEqual(chooseMerge(wordy, LIMITS), [0, 1])
})

test('chooseMerge() rewrites a segment when more than a third of it is dead', () => {
  const sizes = [
    full(9),
    { documents: 900, live: 600, postings: 9 },
    { documents: 900, live: 599, postings: 9 },
  ]
  assert.deepEqual(chooseMerge(sizes, LIMITS), [2])
})

test('chooseMerge() keeps segments few, and writes a document a few times only', () => {
  for (const most of [1, 10, 300, 20_000]) {
    const { segments, written, added } = grow(most, 200_000)
    assert.ok(segments < 24 + (2 * added) / LIMITS.documents, `${segments} segments of ${added} documents`)
    assert.ok(written < 10 * added, `${written} written for ${added}`)
  }
})

/** Seals tails of up to `most` documents until there are `total`. */
function grow(most: number, total: number) {
  const draw = draws(most)
  let sizes: SegmentSize[] = []
  let added = 0
  let written = 0
  while (added < Math.min(total, most * 5000)) {
    const live = 1 + draw.below(most)
    added += live
    written += live
    sizes.push(full(live))
    for (let chosen = chooseMerge(sizes, LIMITS); chosen; chosen = chooseMerge(sizes, LIMITS)) {
      const places = new Set(chosen)
      const merged = chosen.reduce((sum, place) => sum + sizes[place]!.live, 0)
      written += merged
      sizes = [...sizes.filter((_, place) => !places.has(place)), full(merged)]
    }
  }
  return { segments: sizes.length, written, added }
}

function full(live: number): SegmentSize {
  return { documents: live, live, postings: live * 50 }
}
