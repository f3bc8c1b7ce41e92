import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashTerm } from '../../../src/core/search/terms/term-bytes.ts'
import { TextIndex, type TextIndexOptions } from '../../../src/core/search/text-index.ts'
import type { TextQuery } from '../../../src/core/search/types.ts'
import { type BruteDocument, BruteForce } from '../../support/brute-force.ts'
import { draws, randomQuery, randomRow, randomText } from '../../support/random-documents.ts'

const WEIGHTS = [1.5, 1, 1.3, 2, 3]
const ROW = { group: 1, kind: 0, seq: 1, offset: 0, time: 0 }

test('TextIndex.search() matches brute force, in tails and in segments of any size', () => {
  const sizes: TextIndexOptions[] = [
    { tailDocuments: 5000 },
    { tailDocuments: 7 },
    { tailDocuments: 100, segmentDocuments: 900 },
    { tailDocuments: 400, segmentDocuments: 3000 },
  ]
  sizes.forEach((size, seed) => {
    const { index, documents } = fill({ ...size, weights: WEIGHTS }, { seed, count: 3000, most: 30 })
    const draw = draws(seed + 100)
    assertEqual(
      index,
      documents,
      Array.from({ length: 100 }, () => randomQuery(draw)),
    )
  })
})

test('TextIndex.search() matches brute force with many windows and blocks', () => {
  const { index, documents } = fill(
    { weights: WEIGHTS, tailDocuments: 16_384 },
    { seed: 7, count: 30_000, most: 20 },
  )
  assert.deepEqual([index.stats.segments, index.stats.tailDocuments], [1, 13_616])
  const draw = draws(8)
  assertEqual(
    index,
    documents,
    Array.from({ length: 60 }, () => randomQuery(draw)),
  )
})

test('TextIndex.search() is exact when documents became longer or shorter after segments were created', () => {
  for (const [first, then] of [
    [2, 60],
    [60, 2],
  ] as const) {
    const options = { tailDocuments: 300, segmentDocuments: 600, weights: WEIGHTS }
    const { index, documents } = fill(options, { seed: 1, count: 1200, most: first })
    documents.push(...add(index, { seed: 2, count: 1200, most: then, from: 1200 }))
    const draw = draws(3)
    assertEqual(
      index,
      documents,
      Array.from({ length: 60 }, () => randomQuery(draw)),
    )
  }
})

test('TextIndex.search() orders equal scores by time, then by id, the highest first', () => {
  for (const tailDocuments of [1, 2, 100]) {
    const index = new TextIndex({ tailDocuments })
    const rows = [
      { group: 1, kind: 0, seq: 1, offset: 0, time: 5 },
      { group: 2, kind: 0, seq: 1, offset: 0, time: 6 },
      { group: 3, kind: 0, seq: 2, offset: 0, time: 5 },
      { group: 3, kind: 1, seq: 1, offset: 0, time: 5 },
      { group: 3, kind: 0, seq: 1, offset: 0, time: 5 },
      { group: 4, kind: 0, seq: 1, offset: 0, time: 5 },
    ]
    for (const row of rows) index.add(row, 'same words')
    const order = (collapse: boolean, limit: number) =>
      index
        .search({ text: 'words', limit, collapse })
        .map(({ score: _, ...row }) =>
          rows.findIndex((one) => one.group === row.group && one.kind === row.kind && one.seq === row.seq),
        )
    assert.deepEqual(order(false, 9), [1, 2, 5, 3, 4, 0])
    assert.deepEqual(order(false, 3), [1, 2, 5])
    assert.deepEqual(order(true, 9), [1, 2, 5, 0])
    assert.deepEqual(order(true, 2), [1, 2])
  }
})

test('TextIndex.search() returns the best document of each group after weighting, and none twice', () => {
  const index = new TextIndex({ tailDocuments: 3 })
  for (let group = 0; group < 40; group++) {
    for (let seq = 1; seq <= 10; seq++)
      index.add({ ...ROW, group, seq, kind: seq === 4 ? 4 : 1 }, 'crab crab')
  }
  const hits = index.search({ text: 'crab', limit: 40, weights: WEIGHTS, collapse: true })
  assert.deepEqual(new Set(hits.map(({ group }) => group)).size, 40)
  assert.ok(hits.every(({ kind, seq }) => kind === 4 && seq === 4))
})

test('TextIndex.search() finds nothing in an empty index, for no words, unknown words, and no hits', () => {
  const index = new TextIndex()
  const search = (text: string, limit = 5) => index.search({ text, limit })
  assert.deepEqual(search('crab'), [])
  index.add(ROW, '')
  assert.deepEqual(search('crab'), [])
  index.add(ROW, 'a crab')
  assert.deepEqual([search(''), search('!?'), search('lobster'), search('crab', 0)], [[], [], [], []])
  assert.equal(search('crab lobster').length, 1)
  index.removeGroups([ROW.group])
  assert.deepEqual(search('crab'), [])
  assert.equal(index.stats.documents, 0)
})

test('TextIndex.search() asks about a group at most once', () => {
  const { index } = fill({ tailDocuments: 100 }, { seed: 4, count: 900, most: 9, groups: 30 })
  const requests: number[] = []
  index.search({
    text: 'w0x w1x',
    limit: 50,
    accepts: (group) => requests.push(group) > 0 && group % 2 === 0,
  })
  assert.ok(requests.length > 10)
  assert.equal(new Set(requests).size, requests.length)
})

test('TextIndex counts the occurrences of a term up to 255, and the terms of a document up to 65,535', () => {
  const documents = [
    { row: { ...ROW, group: 1 }, text: 'crab '.repeat(300) },
    { row: { ...ROW, group: 2 }, text: `${'crab '.repeat(255)}${'shell '.repeat(45)}` },
    { row: { ...ROW, group: 3 }, text: `${'shell '.repeat(70_000)}crab` },
    { row: { ...ROW, group: 4 }, text: 'crab shell' },
  ]
  for (const tailDocuments of [1, 9]) {
    const index = new TextIndex({ tailDocuments })
    for (const { row, text } of documents) index.add(row, text)
    assertEqual(
      index,
      documents,
      ['crab', 'shell', 'shell crab'].map((text) => ({ text, limit: 9 })),
    )
  }
})

test('TextIndex.removeDocuments() removes one kind of a group, in all segments', () => {
  for (const tailDocuments of [1, 3, 100]) {
    const { index, documents } = fill({ tailDocuments }, { seed: 5, count: 200, most: 9, groups: 10 })
    index.removeDocuments(3, 2)
    index.removeDocuments(3, 2)
    index.removeGroups([5, 6, 99])
    const left = documents.filter(
      ({ row: { group, kind } }) => !(group === 3 && kind === 2) && group !== 5 && group !== 6,
    )
    assert.equal(index.stats.documents, left.length)
    const draw = draws(6)
    assertEqual(
      index,
      left,
      Array.from({ length: 30 }, () => randomQuery(draw)),
    )
  }
})

test('TextIndex.groupTerms() counts the terms in living documents of groups', () => {
  for (const tailDocuments of [1, 2, 100]) {
    const index = new TextIndex({ tailDocuments })
    index.add({ ...ROW, group: 1 }, 'crab crab shell')
    index.add({ ...ROW, group: 2 }, 'shell')
    index.add({ ...ROW, group: 1, kind: 3 }, 'crab sand')
    index.add({ ...ROW, group: 1, kind: 4 }, 'crab gone')
    index.add({ ...ROW, group: 3 }, 'sea')
    index.removeDocuments(1, 4)
    const { idf, groups } = index.groupTerms('shell gone crab shell', [2, 1, 9])
    const expected = (df: number) => Math.log((4 - df + 0.5) / (df + 0.5) + 1)
    assert.deepEqual(idf, [expected(2), expected(2)])
    assert.deepEqual(groups, [
      { group: 2, length: 1, counts: [1, 0] },
      { group: 1, length: 5, counts: [1, 3] },
      { group: 9, length: 0, counts: [0, 0] },
    ])
  }
})

test('TextIndex.groupTerms() matches a simple count, for any order of groups and terms', () => {
  const words = ['crab', 'shell', 'sand', 'tide', 'reef']
  for (let seed = 0; seed < 60; seed++) {
    const draw = draws(seed)
    const index = new TextIndex({ tailDocuments: 1 + draw.below(90) })
    const groups = [0, 1, 16_384, 16_385, 40_000]
    const lengths = groups.map(() => 0)
    const counts = groups.map(() => words.map(() => 0))
    for (let doc = 0; doc < 200; doc++) {
      const owner = draw.below(groups.length)
      const chosen = words.flatMap((_, word) => (draw.once(word * word + 1) ? [word] : []))
      index.add({ ...ROW, group: groups[owner]!, seq: doc }, chosen.map((word) => words[word]).join(' '))
      lengths[owner]! += chosen.length
      for (const word of chosen) counts[owner]![word]!++
    }
    const expected = [1, 2, 4].map((at) => ({ group: groups[at], length: lengths[at], counts: counts[at] }))
    const { groups: found } = index.groupTerms(
      words.join(' '),
      expected.map(({ group }) => group!),
    )
    assert.deepEqual(found, expected, `seed ${seed}`)
  }
})

test('TextIndex.addTerms() adds a document like add()', () => {
  const [direct, numbered] = [new TextIndex(), new TextIndex()]
  direct.add(ROW, 'shell crab shell')
  const bytes = new TextEncoder().encode('..shellcrab')
  const shell = numbered.internTerm(bytes, 2, 5, hashText('shell'))
  const crab = numbered.internTerm(bytes, 7, 4, hashText('crab'))
  numbered.addTerms(ROW, Uint32Array.of(9, shell, crab, shell, 9), 1, 3)
  for (const text of ['shell', 'crab', 'crab shell']) {
    const query = { text, limit: 1 }
    assert.deepEqual(numbered.search(query), direct.search(query))
    assert.equal(numbered.search(query).length, 1)
  }
})

test('TextIndex needs little memory for a few entries', () => {
  const { index } = fill({}, { seed: 9, count: 50, most: 40 })
  assert.ok(index.stats.bytes < 100_000, `${index.stats.bytes} bytes`)
})

interface CorpusOptions {
  seed: number
  count: number
  /** The maximum number of words in a document. */
  most: number
  groups?: number
  /** Group of the first document when each has its own. */
  from?: number
}

function fill(options: TextIndexOptions, filling: CorpusOptions) {
  const index = new TextIndex(options)
  return { index, documents: add(index, filling) }
}

function add(index: TextIndex, { seed, count, most, groups, from = 0 }: CorpusOptions): BruteDocument[] {
  const draw = draws(seed)
  return Array.from({ length: count }, (_, i) => {
    const row = { ...randomRow(draw, from + (groups ? draw.below(groups) : i)), seq: i }
    const text = randomText(draw, most)
    index.add(row, text)
    return { row, text }
  })
}

function assertEqual(index: TextIndex, documents: readonly BruteDocument[], queries: readonly TextQuery[]) {
  const brute = new BruteForce(documents)
  for (const query of queries) {
    assert.deepEqual(index.search(query), brute.search(query), JSON.stringify(query))
  }
}

function hashText(term: string): number {
  const bytes = new TextEncoder().encode(term)
  return hashTerm(bytes, 0, bytes.length)
}
