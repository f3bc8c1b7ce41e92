import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Dictionary } from '../../../src/core/search/dictionary.ts'
import { hashTerm } from '../../../src/core/search/terms/term-bytes.ts'

const ENCODER = new TextEncoder()

test('Dictionary distinguishes terms with the same hash, for any hash function', () => {
  for (const hash of [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
    const dictionary = new Dictionary()
    const terms = Array.from({ length: 500 }, (_, i) => `${'x'.repeat(i % 5)}${i}`)
    assert.deepEqual(
      terms.map(intern(dictionary, hash)),
      terms.map((_, i) => i),
    )
    assert.deepEqual(
      terms.map(intern(dictionary, hash)),
      terms.map((_, i) => i),
    )
    assert.deepEqual(
      terms.map(find(dictionary, hash)),
      terms.map((_, i) => i),
    )
    assert.deepEqual(['y', '', 'x', '50', '500'].map(find(dictionary, hash)), [-1, -1, -1, 50, -1])
  }
})

test('Dictionary accepts any bytes as a term, and distinguishes prefixes and zeros', () => {
  const dictionary = new Dictionary()
  const keys = [
    [],
    [0],
    [0, 0],
    [255],
    [255, 0],
    Array.from({ length: 255 }, () => 7),
    Array.from({ length: 254 }, () => 7),
  ]
  keys.forEach((key, id) => {
    assert.equal(dictionary.find(Uint8Array.from(key), 0, key.length, 9), -1)
    assert.equal(dictionary.intern(Uint8Array.from(key), 0, key.length, 9), id)
  })
  const found = keys.map((key) => dictionary.find(Uint8Array.from([1, ...key, 1]), 1, key.length + 1, 9))
  assert.deepEqual(found, [...keys.keys()])
})

test('Dictionary gives 100,000 terms dense ids that are stable, also through a part', () => {
  const dictionary = new Dictionary()
  const terms = Array.from({ length: 100_000 }, (_, i) => `term${i.toString(36)}`)
  for (const [id, term] of terms.entries()) assert.equal(intern(dictionary)(term), id)
  const copy = Dictionary.fromPart(dictionary.toPart())
  assert.equal(copy.size, terms.length)
  terms.forEach((term, id) => {
    if (find(dictionary)(term) !== id || find(copy)(term) !== id) assert.fail(`${term} is lost`)
  })
  assert.equal(intern(copy)('one more'), terms.length)
  assert.equal(find(copy)('one more'), terms.length)
})

test('Dictionary.toPart() does not change when terms are added, and is readable by other threads', () => {
  const dictionary = new Dictionary()
  intern(dictionary)('crab')
  const part = dictionary.toPart()
  const before = JSON.stringify(part)
  for (let i = 0; i < 5000; i++) intern(dictionary)(`shell${i}`)
  assert.equal(JSON.stringify(part), before)
  assert.ok(Object.values(part.arrays).every(({ buffer }) => buffer instanceof SharedArrayBuffer))
})

test('Dictionary.fromPart() rejects invalid parts', () => {
  const dictionary = new Dictionary()
  for (const term of ['crab', 'shell', 'sea']) intern(dictionary)(term)
  const { facts, arrays } = dictionary.toPart()
  const broken = [
    { facts: {}, arrays },
    { facts: { terms: 2 }, arrays },
    { facts: { terms: -1 }, arrays },
    { facts: { terms: Number.NaN }, arrays },
    { facts, arrays: {} },
    { facts, arrays: { ...arrays, keys: new Uint8Array(3) } },
    { facts, arrays: { ...arrays, hashes: new Uint8Array(3) } },
    { facts, arrays: { ...arrays, starts: Uint32Array.of(0, 9, 4, 12) } },
    { facts, arrays: { ...arrays, starts: Uint32Array.of(1, 4, 9, 12) } },
  ]
  for (const part of broken) assert.throws(() => Dictionary.fromPart(part as never), { kind: 'invalid' })
})

function intern(dictionary: Dictionary, hash?: number): (term: string) => number {
  return (term) => {
    const bytes = ENCODER.encode(term)
    return dictionary.intern(bytes, 0, bytes.length, hash ?? hashTerm(bytes, 0, bytes.length))
  }
}

function find(dictionary: Dictionary, hash?: number): (term: string) => number {
  return (term) => {
    const bytes = ENCODER.encode(term)
    return dictionary.find(bytes, 0, bytes.length, hash ?? hashTerm(bytes, 0, bytes.length))
  }
}
