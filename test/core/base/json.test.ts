import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, parseObject, toShownJson } from '../../../src/core/base/json.ts'

test('parseObject() returns objects, and undefined for any other text', () => {
  assert.deepEqual(parseObject(' {"a":[1]} '), { a: [1] })
  for (const text of ['', '{', 'null', '[{}]', '"{}"', '7', 'true'])
    assert.equal(parseObject(text), undefined, text)
})

test('isObject() distinguishes objects from lists, null and scalars', () => {
  assert.ok(isObject({}))
  for (const value of [[], null, undefined, '', 0, false]) assert.ok(!isObject(value), String(value))
})

test('toShownJson() escapes control, bidirectional and invisible characters, and parses to the same value', () => {
  const hostile = 'a\u001b[31m\u0007\u007f\u009b31m\u0085\u202e\u2066\u200b\u200f\u061c\u2028\ufeff\u{e0041}b'
  const value = { [hostile]: [hostile, { deep: hostile }], emoji: '👩‍💻', persian: 'می‌خواهم', plain: 'ä "\\' }
  for (const indent of [undefined, 2]) {
    const text = toShownJson(value, indent)
    assert.doesNotMatch(
      text,
      /[\p{Cc}--[\n]]|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/v,
    )
    assert.deepEqual(JSON.parse(text), value)
    assert.ok(text.includes('👩‍💻') && text.includes('می‌خواهم'))
  }
  assert.equal(toShownJson({ a: 1 }, 2), '{\n  "a": 1\n}')
})
