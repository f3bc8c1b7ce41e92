import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { composeText } from '../../../../src/core/search/terms/characters.ts'
import { matchesIn, QueryWords, toByteRanges } from '../../../../src/core/search/terms/query-words.ts'
import { TermBuffer } from '../../../../src/core/search/terms/term-buffer.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

test('matchesIn() returns the byte ranges of the words of a query, including parts of names', () => {
  assert.deepEqual(matchesIn('Große Nacht: getUserName', 'user grosse'), [0, 6, 17, 21])
  assert.deepEqual(matchesIn('get_user_name', 'getUserName'), [0, 13])
  assert.deepEqual(matchesIn('nothing', 'else'), [])
  assert.deepEqual(matchesIn('anything', ''), [])
})

test('matchesIn() joins adjacent matches', () => {
  assert.deepEqual(matchesIn('夜の東京タワー', '東京タワー'), [6, 21])
  assert.deepEqual(matchesIn('東京', '京 東'), [0, 6])
})

test('matchesIn() finds nothing in a text that is not composed', () => {
  assert.deepEqual(matchesIn('cafe\u0301 cron', 'cron'), [])
  assert.deepEqual(matchesIn(composeText('cafe\u0301 cron'), 'cron'), [6, 10])
})

test('QueryWords distinguishes the words of a query, however often each occurs', () => {
  const words = new QueryWords('cron job cron')
  const places = words.findIn('job, cron, jobs')
  assert.equal(places.length, 3)
  assert.equal(new Set(places.map(({ word }) => word)).size, 2)
  assert.equal(places[0]!.word, places[2]!.word)
})

test('QueryWords matches no other word with the same hash', () => {
  const byHash = new Map<number, string>()
  const terms = new TermBuffer()
  for (let i = 0; ; i++) {
    const word = `w${i.toString(26)}x`
    terms.fill(word, 'query')
    const other = byHash.get(terms.hashes[0]!)
    byHash.set(terms.hashes[0]!, word)
    if (other === undefined) continue
    assert.deepEqual(new QueryWords(word).findIn(other), [])
    assert.equal(new QueryWords(`${word} ${other}`).findIn(`${other} ${word} ${other}`).length, 3)
    return
  }
})

test('matchesIn() returns increasing ranges of whole characters that contain the words', () => {
  const piece = fc.constantFrom('cron', 'getCron', '日本語', '本', 'é', '🎉', ' ', '_', '. ', 'word')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('')
      const bytes = Buffer.from(text)
      const ranges = matchesIn(text, 'cron 日本')
      for (let i = 0; i < ranges.length; i++) assert.ok(ranges[i]! > (ranges[i - 1] ?? -1))
      for (let i = 0; i < ranges.length; i += 2) {
        const shown = bytes.subarray(ranges[i], ranges[i + 1]).toString()
        assert.ok(shown.isWellFormed() && /cron|日本/i.test(shown), shown)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('toByteRanges() accepts positions in any order', () => {
  const places = [
    { from: 6, to: 8, word: 0 },
    { from: 0, to: 4, word: 1 },
    { from: 1, to: 2, word: 2 },
    { from: 3, to: 5, word: 0 },
  ]
  assert.deepEqual(toByteRanges('ééééééééé', places), [0, 10, 12, 16])
})
