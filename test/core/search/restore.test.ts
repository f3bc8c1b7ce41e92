import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { CheckpointPart } from '../../../src/core/search/checkpoint/types.ts'
import { TextIndex } from '../../../src/core/search/text-index.ts'
import { draws, randomQuery, randomRow, randomText } from '../../support/random-documents.ts'

type Parts = Parameters<typeof TextIndex.restore>[0]

test('TextIndex.restore() returns an index that finds and counts the same, and continues', async () => {
  const index = filled()
  const saved = await index.sealNow()
  const restored = TextIndex.restore(saved)
  const draw = draws(2)
  const assertSame = () => {
    for (let i = 0; i < 40; i++) {
      const query = randomQuery(draw)
      assert.deepEqual(restored.search(query), index.search(query))
    }
  }
  assertSame()
  for (const one of [index, restored]) {
    one.add({ group: 1000, kind: 0, seq: 1, offset: 0, time: 1 }, 'w0x brandnew')
    one.removeGroups([7, 8, 9])
    one.removeDocuments(11, 2)
  }
  assertSame()
  assert.equal(restored.search({ text: 'brandnew', limit: 2 }).length, 1)
})

test('TextIndex.sealNow() returns the same segments again as long as they are unchanged', async () => {
  const index = filled()
  const first = await index.sealNow()
  const second = await index.sealNow()
  assert.ok(second.segments.length > 0)
  assert.ok(
    second.segments.every(
      (segment) => index.stats.segments < first.segments.length || first.segments.includes(segment),
    ),
  )
  index.removeGroups([3])
  const third = await index.sealNow()
  assert.deepEqual(third.segments, second.segments)
  assert.notDeepEqual(third.state, second.state)
})

test('TextIndex.sealNow() of an empty index can be restored', async () => {
  const restored = TextIndex.restore(await new TextIndex().sealNow())
  restored.add({ group: 0, kind: 0, seq: 0, offset: 0, time: 0 }, 'crab')
  assert.equal(restored.search({ text: 'crab', limit: 1 }).length, 1)
})

test('TextIndex.sealNow() returns arrays that another thread can read without copying', async () => {
  const { dictionary, segments, state } = await filled().sealNow()
  const arrays = [dictionary, ...segments, state].flatMap(({ arrays }) => Object.values(arrays))
  const source = `
    const { parentPort } = require('node:worker_threads')
    parentPort.once('message', (array) => { array[0] = 77; parentPort.postMessage(0) })`
  const worker = new Worker(source, { eval: true })
  const [keys] = [dictionary.arrays['keys']!]
  worker.postMessage(keys)
  await new Promise((resolve) => worker.once('message', resolve))
  await worker.terminate()
  assert.equal(keys[0], 77)
  assert.ok(arrays.every(({ buffer }) => buffer instanceof SharedArrayBuffer))
})

test('TextIndex.restore() rejects inconsistent arrays', async () => {
  const saved = await filled().sealNow()
  const [segment, ...others] = saved.segments as unknown as [CheckpointPart, ...CheckpointPart[]]
  const { facts, arrays } = segment
  const withArrays = (changed: Record<string, unknown>) =>
    ({ facts, arrays: { ...arrays, ...changed } }) as CheckpointPart
  const brokenSegments: CheckpointPart[] = [
    { facts: {}, arrays },
    { facts: { ...facts, documents: 0 }, arrays },
    { facts: { ...facts, documents: 1e9 }, arrays },
    { facts: { ...facts, averageLength: Number.NaN }, arrays },
    { facts, arrays: {} },
    ...Object.keys(arrays).map((name) => withArrays({ [name]: undefined })),
    ...Object.keys(arrays).map((name) => withArrays({ [name]: new Int32Array(arrays[name]!.length) })),
    ...Object.keys(arrays).map((name) => withArrays({ [name]: longer(arrays[name]!) })),
    withArrays({ terms: changed(arrays['terms']!, 0, 5) }),
    withArrays({ terms: changed(arrays['terms']!, arrays['terms']!.length - 1, 1e9) }),
    withArrays({ starts: changed(arrays['starts']!, 1, 4e9) }),
    withArrays({ docs: changed(arrays['docs']!, 3, facts['documents']!) }),
    withArrays({ kinds: changed(arrays['kinds']!, 0, 8) }),
    withArrays({ long: changed(arrays['long']!, 0, 4e9) }),
    withArrays({ maximaStarts: changed(arrays['maximaStarts']!, 1, 4e9) }),
  ]
  const broken: Parts[] = [
    ...brokenSegments.map((part) => ({ ...saved, segments: [part, ...others] })),
    { ...saved, segments: others },
    { ...saved, segments: [...saved.segments, segment] },
    { ...saved, state: { facts: {}, arrays: {} } },
    { ...saved, dictionary: { facts: {}, arrays: {} } },
    { ...saved, dictionary: (await new TextIndex().sealNow()).dictionary },
  ]
  for (const [i, parts] of broken.entries()) {
    assert.throws(() => TextIndex.restore(parts), { kind: 'invalid' }, `case ${i}`)
  }
})

/** Builds segments of several sizes, with long lists and dead documents. */
function filled(): TextIndex {
  const index = new TextIndex({ tailDocuments: 250, segmentDocuments: 900 })
  const draw = draws(1)
  for (let i = 0; i < 1600; i++) index.add(randomRow(draw, draw.below(50)), randomText(draw, 12))
  index.removeGroups([4, 5])
  return index
}

type Numbers = CheckpointPart['arrays'][string]

function longer(array: Numbers): Numbers {
  const Type = array.constructor as new (length: number) => Numbers
  const copy = new Type(array.length + 1)
  copy.set(array)
  return copy
}

function changed(array: Numbers, place: number, value: number): Numbers {
  const copy = array.slice()
  copy[place] = value
  return copy
}
