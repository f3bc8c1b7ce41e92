import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toLineExcerpt } from '../../../../src/core/hooks/search/find-text.ts'

test('toLineExcerpt() shows 300 units of a long line, from 100 before its match', () => {
  const text = Array.from({ length: 1000 }, (_, n) => String(n % 10)).join('')
  assert.equal(toLineExcerpt({ text, matchAt: 500 }), `…${text.slice(400, 700)}…`)
  assert.equal(toLineExcerpt({ text, matchAt: 20 }), `${text.slice(0, 300)}…`)
  assert.equal(toLineExcerpt({ text, matchAt: 990 }), `…${text.slice(700)}`)
  assert.equal(toLineExcerpt({ text, matchAt: undefined }), `${text.slice(0, 300)}…`)
  assert.equal(toLineExcerpt({ text: text.slice(0, 300), matchAt: 299 }), text.slice(0, 300))
})

test('toLineExcerpt() never splits a character', () => {
  const shown = toLineExcerpt({ text: `x${'🦀'.repeat(500)}`, matchAt: 500 })
  assert.ok(shown.isWellFormed())
  assert.match(shown, /^…🦀+…$/u)
})
