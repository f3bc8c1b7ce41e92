import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeHistory } from '../bench/relevance/history.ts'
import { QUERY_KINDS } from '../bench/relevance/scenarios.ts'
import { readSet } from '../bench/relevance/set.ts'

const { history, tuning, heldOut } = readSet()

test('the checked-in history is the output of its script', () => {
  const made = makeHistory()
  assert.equal(made.length, history.length)
  // compared one by one, because printing the whole difference takes gigabytes
  const differs = made.findIndex((session, at) => JSON.stringify(session) !== JSON.stringify(history[at]))
  assert.equal(differs, -1)
})

test('each half of the labels has at least 200 queries, of every kind', () => {
  for (const half of [tuning, heldOut]) {
    assert.ok(half.length >= 200)
    assert.deepEqual(new Set(half.map(({ kind }) => kind)), new Set(QUERY_KINDS))
  }
})

test('no query occurs twice, and no family is in both halves', () => {
  const texts = [...tuning, ...heldOut].map(({ text }) => text)
  assert.equal(new Set(texts).size, texts.length)
  const families = new Set(tuning.map(({ session }) => history[session]!.family))
  assert.deepEqual(
    heldOut.filter(({ session }) => families.has(history[session]!.family)),
    [],
  )
})

test('a synonym query shares few words with its session', () => {
  const labels = [...tuning, ...heldOut].filter(({ kind }) => kind === 'synonyms')
  const shares = labels.map(({ text, session }) => {
    const sessionWords = new Set(history[session]!.turns.flatMap((turn) => splitWords(turn.text)))
    const queryWords = splitWords(text)
    return queryWords.filter((word) => sessionWords.has(word)).length / queryWords.length
  })
  assert.ok(shares.reduce((sum, share) => sum + share, 0) / shares.length < 0.25)
})

/** Returns the words of five letters and more. */
function splitWords(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{5,}/gu) ?? []
}
