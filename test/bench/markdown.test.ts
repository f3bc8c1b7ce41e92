import assert from 'node:assert/strict'
import { test } from 'node:test'
import { END, markdownChunks } from '../../bench/markdown.ts'

test('markdownChunks() returns the given number of chunks, a megabyte for 20,000, with the end mark in the last', () => {
  const chunks = markdownChunks(20_000)
  assert.equal(chunks.length, 20_000)
  assert.ok(Math.abs(chunks.join('').length - 1_000_000) < 100)
  assert.deepEqual(chunks.map((chunk) => chunk.includes(END)).indexOf(true), 19_999)
})
