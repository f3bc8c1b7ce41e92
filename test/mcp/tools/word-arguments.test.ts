import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepTexts } from '../../../src/mcp/tools/word-arguments.ts'

/** The schema of an argument, what was typed, and what is sent. */
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
  test(`keepTexts() makes ${word} of an argument that is ${JSON.stringify(schema)} fit`, () => {
    const words = { a: word }
    assert.deepEqual(keepTexts({ properties: { a: schema } }, { a: JSON.parse(word) }, words), { a: sent })
  })
}

test('keepTexts() leaves what no schema speaks of, and what was not typed', () => {
  assert.deepEqual(keepTexts({}, { a: 1 }, { a: '1' }), { a: 1 })
  assert.deepEqual(keepTexts({ properties: { a: { type: 'string' } } }, { a: 1, b: 2 }, { b: '2' }), {
    a: 1,
    b: 2,
  })
})
