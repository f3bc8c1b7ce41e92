import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCallLine, formatFailureLine } from '../../../src/cli/turn/call-line.ts'

test('formatCallLine() returns the tool and the first string of its arguments', () => {
  assert.equal(called({ timeout: 3, command: 'npm test', more: 'x' }), 'bash npm test')
  assert.equal(called({ timeout: 3 }), 'bash')
  assert.equal(formatCallLine({ name: 'bash', arguments: '{nonsense', callId: '', server: '' }), 'bash')
})

test('formatCallLine() returns one short line without control characters', () => {
  assert.equal(called({ command: 'a\n\u001b[2Jb' }), String.raw`bash a\n\x1b[2Jb`)
  assert.equal(called({ command: 'x'.repeat(81) }), `bash ${'x'.repeat(80)}…`)
  assert.equal(called({ command: 'x'.repeat(80) }), `bash ${'x'.repeat(80)}`)
})

test('formatFailureLine() returns the first line with text', () => {
  assert.equal(formatFailureLine('\n  Cannot read\nmore'), 'Cannot read')
  assert.equal(formatFailureLine('a\u001b[2J'), String.raw`a\x1b[2J`)
  assert.equal(formatFailureLine(''), '')
  assert.equal(formatFailureLine('x'.repeat(300)).length, 201)
})

function called(args: object): string {
  return formatCallLine({ name: 'bash', arguments: JSON.stringify(args), callId: '', server: '' })
}
