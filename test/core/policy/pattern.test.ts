import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRule } from '../../../src/core/policy/pattern.ts'

test('parseRule() reads a rule, or says what is wrong with it', () => {
  assert.deepEqual(parseRule('fetch'), { about: 'tool', name: 'fetch' })
  assert.throws(() => parseRule('Bash(ls\n)'), {
    kind: 'invalid',
    message: 'Cannot use the rule "Bash(ls\\n)": it has a line break or another control character',
    hint: 'for example bash(git commit *)',
  })
})
