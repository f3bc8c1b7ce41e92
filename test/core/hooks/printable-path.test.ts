import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPrintablePath } from '../../../src/core/hooks/printable-path.ts'

test('printable() keeps a printable path, and quotes others', () => {
  for (const path of ['a b/ö.ts', 'a,b', '[x] {y}', 'back\\slash', '日本/🦀'])
    assert.equal(toPrintablePath(path), path)
  const quoted = {
    'a\nb': '"a\\nb"',
    '\x1b[31m"x"': '"\\u001b[31m\\"x\\""',
    'at 1.00\u202fPM': '"at 1.00\\u202fPM"',
    'gnp\u202e.txt': '"gnp\\u202e.txt"',
    '\x9b2J': '"\\x9b2J"',
  }
  for (const [path, shown] of Object.entries(quoted)) assert.equal(toPrintablePath(path), shown)
})
