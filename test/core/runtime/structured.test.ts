import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAnswer } from '../../../src/core/base/json.ts'
import { schemaProblem } from '../../../src/core/runtime/structured.ts'

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'integer', minimum: 1 } },
  required: ['name'],
  additionalProperties: false,
}

const VALUES: Record<string, unknown> = {
  '{"a":1}': { a: 1 },
  ' [1, 2]\n': [1, 2],
  null: null,
  '"text"': 'text',
  '```json\n{"a":1}\n```': { a: 1 },
  '\n```\n{"a":1}\n```\n': { a: 1 },
  '```json\n"```"\n```': '```',
  '': undefined,
  'Here it is: {"a":1}': undefined,
  '```json\n{"a":\n```': undefined,
}

for (const [answer, value] of Object.entries(VALUES)) {
  test(`parseAnswer() reads ${JSON.stringify(answer)}`, () => assert.deepEqual(parseAnswer(answer), value))
}

test('schemaProblem() accepts a matching answer', async () => {
  assert.equal(await schemaProblem('{"name":"crab","size":2}', SCHEMA), undefined)
  assert.equal(await schemaProblem('```json\n{"name":"crab"}\n```', SCHEMA), undefined)
})

test('schemaProblem() says what is wrong and where', async () => {
  assert.equal(await schemaProblem('I think so', SCHEMA), 'the answer is not JSON')
  assert.match((await schemaProblem('{"size":2}', SCHEMA)) ?? '', /name/)
  assert.match((await schemaProblem('{"name":"crab","size":"big"}', SCHEMA)) ?? '', /#\/size.*integer/)
  assert.match((await schemaProblem('{"name":"crab","legs":10}', SCHEMA)) ?? '', /legs/)
  assert.match((await schemaProblem('[]', SCHEMA)) ?? '', /object/)
})

test('schemaProblem() rejects an unusable schema as an invalid request', async () => {
  for (const schema of [{ $ref: '#/$defs/none' }, { type: 'string', pattern: '(' }]) {
    await assert.rejects(schemaProblem('"x"', schema), { name: 'CrabError', kind: 'invalid' })
  }
})
