import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countLineRows,
  findRow,
  guessReflow,
  newDrawnFrame,
  type Reflow,
  reflow,
} from '../../../src/tui/terminal/reflow.ts'

test('countLineRows() counts the rows of a line by its columns, without its colors', () => {
  assert.equal(countLineRows('', 10), 1)
  assert.equal(countLineRows('a'.repeat(10), 10), 1)
  assert.equal(countLineRows('a'.repeat(11), 10), 2)
  assert.equal(countLineRows(`\u001b[31m${'a'.repeat(10)}\u001b[39m`, 10), 1)
  assert.equal(countLineRows('漢'.repeat(5), 10), 1)
  assert.equal(countLineRows(`a${'漢'.repeat(5)}`, 10), 2, 'a wide character does not break')
  assert.equal(countLineRows('漢漢', 1), 2)
})

test('findRow() keeps a column after the end of a full row in that row', () => {
  assert.equal(findRow('a'.repeat(10), 9, 10), 0)
  assert.equal(findRow('a'.repeat(10), 10, 10), 0)
  assert.equal(findRow('a'.repeat(20), 10, 10), 1)
})

test('reflow() follows the cursor of a frame whose lines are or are not rewrapped', () => {
  const lines = ['a'.repeat(15), 'b', 'c'.repeat(18), 'd'.repeat(12)]
  const drawn = newDrawnFrame(lines, { x: 12, y: 2 }, { columns: 20, rows: 24 })
  const rowAt = (columns: number, kind: Reflow, rows = 24) => reflow(drawn, { columns, rows }, kind).row
  assert.equal(drawn.row, 2)
  assert.equal(rowAt(10, 'all'), 4)
  assert.equal(rowAt(10, 'none'), 2)
  assert.equal(rowAt(40, 'xterm.js'), 2)
  assert.equal(rowAt(10, 'xterm.js'), 5, 'it sank by a row of the first line, its own and the last')
  assert.equal(rowAt(10, 'xterm.js', 20), 3, 'the last line went, so the line of the cursor is left alone')
})

test('reflow() matches xterm.js step by step', () => {
  const size = { columns: 20, rows: 24 }
  const drawn = newDrawnFrame(['a'.repeat(20), 'b', 'c'], { x: 1, y: 1 }, size)
  const narrow = reflow(drawn, { columns: 5, rows: 24 }, 'xterm.js')
  assert.deepEqual([narrow.heights, narrow.row], [[4, 1, 1], 4])
  const wide = reflow(narrow, { columns: 10, rows: 24 }, 'xterm.js')
  assert.deepEqual([wide.heights, wide.row], [[2, 1, 1], 2])
  assert.equal(reflow(wide, size, 'xterm.js').row, 1)
})

test('guessReflow() knows the terminals that do not rewrap lines, and those based on xterm.js', () => {
  assert.equal(guessReflow({ TERM: 'xterm-256color' }), 'all')
  assert.equal(guessReflow({ TERM: 'xterm-256color', XTERM_VERSION: 'XTerm(390)' }), 'none')
  assert.equal(guessReflow({ TERM: 'linux' }), 'none')
  assert.equal(guessReflow({ TERM: 'screen-256color' }), 'none')
  assert.equal(guessReflow({ TERM: 'screen-256color', TMUX: '/tmp/tmux-0/default,1,0' }), 'all')
  assert.equal(guessReflow({ TERM: 'xterm-256color', TERM_PROGRAM: 'vscode' }), 'xterm.js')
})
