import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { mergeSegments } from '../../../src/core/search/merge.ts'
import type { Background, Segment } from '../../../src/core/search/parts.ts'
import { sealTail } from '../../../src/core/search/seal.ts'
import { TextIndex } from '../../../src/core/search/text-index.ts'

test('TextIndex finds documents in tails that its background never seals', () => {
  const never = () => new Promise<Segment>(() => {})
  const index = new TextIndex({ tailDocuments: 2, background: { seal: never, merge: never } })
  fill(index, 9)
  assert.deepEqual([index.stats.segments, index.stats.tailDocuments], [0, 9])
  assert.equal(index.search({ text: 'crab', limit: 20 }).length, 9)
  index.removeGroups([0, 5])
  assert.equal(index.search({ text: 'crab', limit: 20 }).length, 7)
})

test('TextIndex seals segments itself when its background fails, and asks it again for the next', async () => {
  const requests: string[] = []
  const fail = (what: string) => async () => {
    requests.push(what)
    throw new Error('no thread')
  }
  const index = new TextIndex({ tailDocuments: 1, background: { seal: fail('seal'), merge: fail('merge') } })
  fill(index, 4)
  await index.settle()
  assert.deepEqual(requests, ['seal', 'seal', 'seal', 'seal', 'merge'])
  assert.deepEqual([index.stats.segments, index.stats.tailDocuments], [1, 0])
  fill(index, 1)
  await index.sealNow()
  assert.equal(requests.length, 6)
})

test('TextIndex seals no segments once its background is closed, and finds everything', async () => {
  const closed = async () => {
    throw new CrabError('cancelled', 'Cancelled: the search index is closed')
  }
  const index = new TextIndex({ tailDocuments: 2, background: { seal: closed, merge: closed } })
  fill(index, 9)
  await index.settle()
  assert.deepEqual([index.stats.segments, index.stats.tailDocuments], [0, 9])
  assert.equal(index.search({ text: 'crab', limit: 20 }).length, 9)
})

test('TextIndex omits what was removed during a merge, and drops a segment of dead documents', async () => {
  const { background, merging, go } = waitingMerges()
  const index = new TextIndex({ tailDocuments: 1, background })
  fill(index, 4)
  await merging
  index.removeGroups([0, 1, 3])
  assert.deepEqual(listGroups(index), [2])
  index.removeGroups([2])
  go()
  await index.settle()
  assert.deepEqual([listGroups(index), index.stats.segments, index.stats.documents], [[], 0, 0])
})

/** Seals immediately; merges when it is told to. */
function waitingMerges() {
  const request = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const background: Background = {
    seal: async (tail) => sealTail(tail),
    merge: async (job) => {
      request.resolve()
      await gate.promise
      return mergeSegments(job)
    },
  }
  return { background, merging: request.promise, go: () => gate.resolve() }
}

function fill(index: TextIndex, count: number): void {
  for (let group = 0; group < count; group++) {
    index.add({ group, kind: 0, seq: 1, offset: 0, time: 0 }, 'crab')
  }
}

function listGroups(index: TextIndex): number[] {
  return index.search({ text: 'crab', limit: 20 }).map(({ group }) => group)
}
