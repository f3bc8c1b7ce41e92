import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, parseObject } from '../../../src/core/base/json.ts'

test('parseObject() gives objects, and nothing for any other text', () => {
  assert.deepEqual(parseObject(' {"a":[1]} '), { a: [1] })
  for (const text of ['', '{', 'null', '[{}]', '"{}"', '7', 'true'])
    assert.equal(parseObject(text), undefined, text)
})

test('isObject() tells objects from lists, null and scalars', () => {
  assert.ok(isObject({}))
  for (const value of [[], null, undefined, '', 0, false]) assert.ok(!isObject(value), String(value))
})
