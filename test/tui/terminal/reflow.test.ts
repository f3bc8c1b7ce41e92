import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessReflow, heightOf, rowOf, rowsAbove } from '../../../src/tui/terminal/reflow.ts'

test('heightOf() counts the rows of a line by its columns, without its colours', () => {
  assert.equal(heightOf('', 10), 1)
  assert.equal(heightOf('a'.repeat(10), 10), 1)
  assert.equal(heightOf('a'.repeat(11), 10), 2)
  assert.equal(heightOf(`\u001b[31m${'a'.repeat(10)}\u001b[39m`, 10), 1)
  assert.equal(heightOf('漢'.repeat(5), 10), 1)
  assert.equal(heightOf(`a${'漢'.repeat(5)}`, 10), 2, 'a wide character does not break')
  assert.equal(heightOf('漢漢', 1), 2)
})

test('rowOf() keeps a column behind the end of a full row in that row', () => {
  assert.equal(rowOf('a'.repeat(10), 9, 10), 0)
  assert.equal(rowOf('a'.repeat(10), 10, 10), 0)
  assert.equal(rowOf('a'.repeat(20), 10, 10), 1)
})

test('rowsAbove() finds the top of a frame after its lines were wrapped anew, or not', () => {
  const drawn = {
    lines: ['a'.repeat(15), 'b', 'c'.repeat(18), 'd'.repeat(12)],
    caret: { x: 12, y: 2 },
    columns: 20,
    rows: 24,
  }
  assert.equal(rowsAbove(drawn, { columns: 20, rows: 24 }, 'all'), 2)
  assert.equal(rowsAbove(drawn, { columns: 10, rows: 24 }, 'all'), 4)
  assert.equal(rowsAbove(drawn, { columns: 10, rows: 24 }, 'none'), 2)
  assert.equal(rowsAbove(drawn, { columns: 40, rows: 24 }, 'xterm.js'), 2)
  assert.equal(
    rowsAbove(drawn, { columns: 10, rows: 24 }, 'xterm.js'),
    5,
    'the cursor sank by a row of the first line, its own and the last',
  )
})

test('guessReflow() knows the terminals that do not wrap lines anew, and those made of xterm.js', () => {
  assert.equal(guessReflow({ TERM: 'xterm-256color' }), 'all')
  assert.equal(guessReflow({ TERM: 'xterm-256color', XTERM_VERSION: 'XTerm(390)' }), 'none')
  assert.equal(guessReflow({ TERM: 'linux' }), 'none')
  assert.equal(guessReflow({ TERM: 'screen-256color' }), 'none')
  assert.equal(guessReflow({ TERM: 'screen-256color', TMUX: '/tmp/tmux-0/default,1,0' }), 'all')
  assert.equal(guessReflow({ TERM: 'xterm-256color', TERM_PROGRAM: 'vscode' }), 'xterm.js')
})
