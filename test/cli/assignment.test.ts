import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAssignment } from '../../src/cli/assignment.ts'

const AT = { what: 'argument 2', example: 'a=1' }

/** Assignments, and the resulting merge patch. */
const ASSIGNMENTS: [string, object][] = [
  ['timeout_ms=5000', { timeout_ms: 5000 }],
  ['args=["-y", "x"]', { args: ['-y', 'x'] }],
  ['env={"A": "b", "C-D": "[secret]"}', { env: { A: 'b', 'C-D': '[secret]' } }],
  ['mcps=[{"name": "a"}]', { mcps: [{ name: 'a' }] }],
  ['description=[draft] {x', { description: '[draft] {x' }],
  ['command=npx', { command: 'npx' }],
  ['env.TOKEN="007"', { env: { TOKEN: '007' } }],
  ['env.TOKEN=', { env: { TOKEN: null } }],
  ['env."A B"=', { env: { 'A B': null } }],
  ['permissions.allow=["read_*"]', { permissions: { allow: ['read_*'] } }],
  ['cwd=/a=b', { cwd: '/a=b' }],
  ['a.b.c=bare word', { a: { b: { c: 'bare word' } } }],
]

for (const [text, patch] of ASSIGNMENTS) {
  test(`parseAssignment() converts ${text} to ${JSON.stringify(patch)}`, () => {
    assert.deepEqual(JSON.parse(JSON.stringify(parseAssignment(text, AT))), patch)
  })
}

for (const text of ['sk-secret', '=sk-secret', ' =x', '', 'a b=sk-secret', 'a\nb=1']) {
  test(`parseAssignment() rejects ${JSON.stringify(text)} without repeating it`, () => {
    assert.throws(() => parseAssignment(text, AT), {
      kind: 'usage',
      message: 'Cannot use argument 2: it is not key=value',
      hint: 'for example a=1',
    })
  })
}

test('parseAssignment() sets one key, whatever its value looks like', () => {
  const patch = parseAssignment('model=1\nthinking = true', AT)
  assert.deepEqual(Object.keys(patch), ['model'])
})
