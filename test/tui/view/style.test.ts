import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paint } from '../../../src/tui/view/style.ts'

test('paint() changes nothing without colors, and nothing that is empty', () => {
  assert.equal(paint('text', false, 'error', 'bold'), 'text')
  assert.equal(paint('', true, 'error'), '')
})

test('paint() closes every line by itself', () => {
  assert.equal(paint('a\nb', true, 'error'), '\x1b[31ma\x1b[39m\n\x1b[31mb\x1b[39m')
})

test('paint() resumes after nested colors', () => {
  const inner = paint('b', true, 'bold')
  assert.equal(paint(`a${inner}c`, true, 'dim'), '\x1b[2ma\x1b[1mb\x1b[22m\x1b[2mc\x1b[22m')
})
