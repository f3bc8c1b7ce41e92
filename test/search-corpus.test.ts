import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MESSAGES_PER_SESSION, makeCorpus, toDocuments, toSessionLines } from '../bench/search/corpus.ts'
import { LIMIT, toDocumentTime } from '../bench/search/engine.ts'
import { makeQueries } from '../bench/search/queries.ts'
import { bruteForce } from '../bench/search/truth.ts'
import { NO_OFFSET } from '../src/core/search/types.ts'
import { toDocuments as storedDocuments } from '../src/core/session-search/documents.ts'
import { DOCUMENT_WEIGHTS } from '../src/core/session-search/types.ts'
import { BruteForce } from './support/brute-force.ts'

const SESSIONS = 5
const corpus = makeCorpus()

test('bruteForce() of the bench finds the same as the brute force of the tests, to the last bit', () => {
  const queries = makeQueries(corpus, SESSIONS).map(({ text }) => text)
  const documents = Array.from({ length: SESSIONS }, (_, number) => [...toDocuments(corpus.session(number))])
  const other = new BruteForce(
    documents.flat().map(({ session: group, seq, kind, text }) => {
      const time = toDocumentTime({ session: group, seq })
      return { row: { group, kind, seq, offset: NO_OFFSET, time }, text }
    }),
  )
  const found = bruteForce(corpus, { texts: queries, sessions: SESSIONS })
  for (const [at, text] of queries.entries()) {
    const expected = other.search({ text, limit: LIMIT, weights: DOCUMENT_WEIGHTS })
    assert.deepEqual(
      found[at],
      expected.map(({ group: session, seq, kind, score }) => ({ session, seq, kind, score })),
    )
  }
})

test('the documents of a corpus session are those of its stored lines', () => {
  const session = corpus.session(0)
  const stored = toSessionLines(session).flatMap((line, at) =>
    storedDocuments({ ...line, seq: at + 1, ts: '' }).map(({ kind, text }) => ({ kind, text })),
  )
  const indexed = [...toDocuments(session)].map(({ kind, text }) => ({ kind, text }))
  const inOrder = (documents: typeof indexed) => documents.toSorted((a, b) => (a.text < b.text ? -1 : 1))
  assert.deepEqual(inOrder(stored), inOrder(indexed))
  assert.equal(indexed.filter(({ kind }) => kind < 3).length, MESSAGES_PER_SESSION)
})

test('a corpus is the same each time it is created', () => {
  assert.deepEqual(makeCorpus().session(7), corpus.session(7))
  assert.deepEqual(makeQueries(makeCorpus(), SESSIONS), makeQueries(corpus, SESSIONS))
})
