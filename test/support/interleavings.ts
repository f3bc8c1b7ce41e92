import assert from 'node:assert/strict'
import { mergeSegments } from '../../src/core/search/merge.ts'
import type { Background, Segment } from '../../src/core/search/parts.ts'
import { sealTail } from '../../src/core/search/seal.ts'
import { TermBuffer } from '../../src/core/search/terms/term-buffer.ts'
import { TextIndex } from '../../src/core/search/text-index.ts'
import { type BruteDocument, BruteForce } from './brute-force.ts'
import { type Draw, draws, randomQuery, randomRow, randomText } from './random-documents.ts'

const STEPS = 14
const TERMS = new TermBuffer()

/**
 * Takes `count` indexes through random add, remove, seal, merge and restore steps, and fails when one does
 * not find what brute force finds.
 */
export async function playInterleavings(rounds: number): Promise<void> {
  for (let seed = 0; seed < rounds; seed++) await play(seed)
}

/** Runs one index through some steps; the same seed gives the same steps. */
async function play(seed: number): Promise<void> {
  const draw = draws(seed)
  const worker = slowWorker()
  const options = {
    tailDocuments: 1 + draw.below(6),
    segmentDocuments: 4 + draw.below(30),
    ...(draw.once(2) && { background: worker }),
  }
  let index = new TextIndex(options)
  let documents: BruteDocument[] = []
  for (let step = 0; step < STEPS; step++) {
    switch (draw.below(8)) {
      case 0:
        documents = removeGroups(index, documents, draw)
        break
      case 1:
        documents = removeKind(index, documents, draw)
        break
      case 2:
        await worker.finishOne()
        break
      case 3:
        if (draw.once(3)) index = await reopen(index, { worker, options, documents })
        break
      case 4:
        search(index, documents, { draw, seed })
        break
      default:
        documents = [...documents, ...addSome(index, draw)]
    }
  }
  search(index, documents, { draw, seed })
  await worker.finish(index)
  search(index, documents, { draw, seed })
}

function addSome(index: TextIndex, draw: Draw): BruteDocument[] {
  return Array.from({ length: 1 + draw.below(6) }, () => {
    const document = { row: randomRow(draw, draw.below(8)), text: randomText(draw, 6) }
    index.add(document.row, document.text)
    return document
  })
}

function removeGroups(index: TextIndex, documents: readonly BruteDocument[], draw: Draw): BruteDocument[] {
  const groups = new Set([draw.below(8), draw.below(8)])
  index.removeGroups(groups)
  return documents.filter(({ row }) => !groups.has(row.group))
}

function removeKind(index: TextIndex, documents: readonly BruteDocument[], draw: Draw): BruteDocument[] {
  const [group, kind] = [draw.below(8), draw.below(5)]
  index.removeDocuments(group, kind)
  return documents.filter(({ row }) => row.group !== group || row.kind !== kind)
}

/** Saves the index while it is changed; the saved state must be the one at the call. */
async function reopen(
  index: TextIndex,
  {
    worker,
    options,
    documents,
  }: { worker: SlowWorker; options: object; documents: readonly BruteDocument[] },
): Promise<TextIndex> {
  const saving = index.sealNow()
  index.removeGroups([1, 2])
  index.add({ group: 1, kind: 0, seq: 0, offset: 0, time: 0 }, 'w0x w1x naïve')
  await worker.finish(index)
  const restored = TextIndex.restore(await saving, options)
  assert.equal(restored.stats.documents, documents.length)
  return restored
}

function search(
  index: TextIndex,
  documents: readonly BruteDocument[],
  { draw, seed }: { draw: Draw; seed: number },
) {
  const query = randomQuery(draw)
  assert.deepEqual(
    toRanks(index.search(query)),
    toRanks(new BruteForce(documents, TERMS).search(query)),
    `seed ${seed}`,
  )
  assert.equal(index.stats.documents, documents.length, `seed ${seed}`)
}

/** Sorts rows that are equal in all sort keys, because their order is undefined. */
function toRanks(hits: readonly object[]): string[] {
  return hits.map((hit) => JSON.stringify(hit, Object.keys(hit).sort()))
}

interface SlowWorker extends Background {
  /** Runs its next job, if there is one. */
  finishOne: () => Promise<void>
  /** Runs all of its jobs. */
  finish: (index: TextIndex) => Promise<void>
}

/** Builds segments on request; every third job fails. */
function slowWorker(): SlowWorker {
  const jobs: (() => void)[] = []
  let requestCount = 0
  const later = (make: () => Segment) =>
    new Promise<Segment>((resolve, reject) => {
      const isBroken = ++requestCount % 3 === 0
      jobs.push(() => (isBroken ? reject(new Error('the worker broke')) : resolve(make())))
    })
  const finishOne = async () => {
    jobs.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    seal: (tail) => later(() => sealTail(tail)),
    merge: (job) => later(() => mergeSegments(job)),
    finishOne,
    finish: async (index) => {
      const settled = index.settle().then(() => true)
      while (!(await Promise.race([settled, finishOne().then(() => false)])));
    },
  }
}
