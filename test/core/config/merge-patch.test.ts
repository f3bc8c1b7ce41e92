import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { mergePatch } from '../../../src/core/config/merge-patch.ts'

// The cases of RFC 7396, appendix A, whose target and patch are objects.
for (const [target, patch, result] of [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: { b: 'c' } }, { a: { d: 'e' } }, { a: { b: 'c', d: 'e' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
] as [JsonObject, JsonObject, JsonObject][]) {
  test(`mergePatch() applies ${JSON.stringify(patch)} to ${JSON.stringify(target)}`, () => {
    const before = structuredClone(target)
    assert.deepEqual(mergePatch(target, patch), result)
    assert.deepEqual(target, before)
  })
}

test('mergePatch() treats __proto__ as any other key', () => {
  const merged = mergePatch({}, JSON.parse('{"__proto__": {"x": 1}}'))
  assert.equal(JSON.stringify(merged), '{"__proto__":{"x":1}}')
  assert.equal(Object.getPrototypeOf(merged), Object.prototype)
})
