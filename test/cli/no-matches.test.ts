import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeNoMatches } from '../../src/cli/no-matches.ts'

test('describeNoMatches() explains why a query without words finds nothing', async () => {
  for (const query of ['heron', 'C++ heron', '数', '42', 'C++', '.NET', 'c']) {
    assert.equal(await describeNoMatches(query), `Nothing found for ${query}\n`)
  }
  for (const query of ['!!!', '🎉', '*', '7', '++', 'a i']) {
    const why = 'only words are searched, not punctuation, single digits, a and i'
    assert.equal(await describeNoMatches(query), `Nothing found for ${query}: ${why}\n`)
  }
})

test('describeNoMatches() repeats only the start of a long query, without control characters', async () => {
  assert.equal(
    await describeNoMatches('heron '.repeat(1000)),
    `Nothing found for ${'heron '.repeat(34).slice(0, 200)}…\n`,
  )
  assert.equal(await describeNoMatches('\u001b[2Jheron'), 'Nothing found for heron\n')
})
