import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepTexts } from '../../../src/mcp/tools/word-arguments.ts'

/** The schema of an argument, the typed text, and the value that is sent. */
const WORDS: [object, string, unknown][] = [
  [{ type: 'string' }, '2', '2'],
  [{ type: 'string' }, 'true', 'true'],
  [{ type: 'string' }, 'null', 'null'],
  [{ type: 'string' }, '{"a":1}', '{"a":1}'],
  [{ type: 'string' }, '"quoted"', 'quoted'],
  [{ type: 'number' }, '2', 2],
  [{ type: ['string', 'null'] }, 'null', null],
  [{ type: ['string', 'integer'] }, '2', 2],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, '7', '7'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, '7', 7],
  [{ enum: ['1', '2'] }, '1', '1'],
  [{}, '2', 2],
]

for (const [schema, word, sent] of WORDS) {
  test(`keepTexts() makes ${word} fit an argument with the schema ${JSON.stringify(schema)}`, () => {
    const words = { a: word }
    assert.deepEqual(keepTexts({ properties: { a: schema } }, { a: JSON.parse(word) }, words), { a: sent })
  })
}

test('keepTexts() does not change arguments without a schema, or that were not typed', () => {
  assert.deepEqual(keepTexts({}, { a: 1 }, { a: '1' }), { a: 1 })
  assert.deepEqual(keepTexts({ properties: { a: { type: 'string' } } }, { a: 1, b: 2 }, { b: '2' }), {
    a: 1,
    b: 2,
  })
})
