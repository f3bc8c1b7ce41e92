import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import fc from 'fast-check'
import { ANSI_PALETTE, setPalette } from '../../../../src/tui/view/style.ts'
import { paintRanges } from '../../../../src/tui/view/tool/changed-words.ts'
import { renderDiff } from '../../../../src/tui/view/tool/diff.ts'
import { readUnifiedDiff, readWholeDiff } from '../../../../src/tui/view/tool/diff-lines.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { assertPrintable, makeView, plain } from '../support.ts'

const DIFF = `@@ -3,3 +3,4 @@
 // adds
-export function add(a: number, b: number) {
+export function add(a: number, b: number): number {
+  if (!Number.isFinite(a)) throw new RangeError(a)
   return a + b
`

afterEach(() => setPalette(ANSI_PALETTE))

/** Tints as a terminal with all colors has them. */
function tint(): void {
  setPalette({
    ...ANSI_PALETTE,
    'diff-added-background': [['48;2;0;40;0', 49]],
    'diff-removed-background': [['48;2;40;0;0', 49]],
    'diff-added-word': [['48;2;0;90;0', 49]],
    'diff-removed-word': [['48;2;90;0;0', 49]],
  })
}

/** Removes the tints, which plain() and assertPrintable() do not know. */
const withoutTints = (line: string) => line.replaceAll(TINTS, '')
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a color
const TINTS = /\x1b\[4[89][;\d]*m/g

const render = (diff: string, columns: number, color = false) =>
  renderDiff(readUnifiedDiff(diff)!, { path: 'src/util.ts' }, makeView({ columns, color }))

test('renderDiff() shows line numbers and signs, and wraps long lines below their text', () => {
  assert.deepEqual(render(DIFF, 60), [
    '3   // adds',
    '4 - export function add(a: number, b: number) {',
    '4 + export function add(a: number, b: number): number {',
    '5 +   if (!Number.isFinite(a)) throw new RangeError(a)',
    '6     return a + b',
  ])
  assert.deepEqual(render(DIFF, 30).slice(1, 3), ['4 - export function add(a: num', '    ber, b: number) {'])
})

test('renderDiff() paints changed words bold, and whole lines green and red, with 16 colors', () => {
  const lines = render(DIFF, 60, true)
  assert.equal(lines[1], '\u001b[31m4 - export function add(a: number, b: number) {\u001b[39m')
  assert.equal(
    lines[2],
    '\u001b[32m4 + export function add(a: number, b: number)\u001b[1m: number\u001b[22m {\u001b[39m',
  )
  assert.equal(lines[3], '\u001b[32m5 +   if (!Number.isFinite(a)) throw new RangeError(a)\u001b[39m')
})

test('renderDiff() tints lines up to the same column, colors their code, and tints changed words more', () => {
  tint()
  const lines = render(DIFF, 60, true)
  assert.ok(lines[2]!.startsWith('\u001b[48;2;0;40;0m\u001b[32m4 + \u001b[39m\u001b[35mexport\u001b[39m '))
  assert.match(lines[2]!, /48;2;0;90;0m: /)
  const widths = plain(lines.map((line) => withoutTints(line))).map(({ length }) => length)
  assert.deepEqual(widths.slice(1, 4), [55, 55, 55])
  assert.ok(!lines[0]!.includes('48;2'), 'unchanged lines have no tint')
})

test('renderDiff() fits any width, with any content and any colors', () => {
  const line = fc.tuple(fc.constantFrom('+', '-', ' '), fc.string({ unit: 'grapheme', maxLength: 60 }))
  const room = fc.integer({ min: 1, max: 90 })
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), room, fc.boolean(), (body, columns, hasTint) => {
      if (hasTint) tint()
      const diff = `@@ -9,3 +9,3 @@\n${body.map(([sign, text]) => sign + text.replaceAll('\n', '')).join('\n')}`
      const rows = render(diff, columns, true).map((row) => withoutTints(row))
      assertPrintable(rows, columns)
      setPalette(ANSI_PALETTE)
    }),
    { numRuns: propertyRuns(300) },
  )
})

test('readWholeDiff() takes a diff only when every line is part of it', () => {
  const end = '@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n'
  assert.deepEqual(
    readWholeDiff(end)?.map(({ kind, text }) => [kind, text]),
    [
      ['removed', 'x'],
      ['gap', ' No newline at end of file'],
      ['added', 'x'],
    ],
  )
  for (const other of ['x', '--- a\n@@ -1 +1 @@\n-x', '@@ -1 +1 @@\nx', '@@ -1 +1 @@\n-x\n\nrm -rf'])
    assert.equal(readWholeDiff(other), undefined)
})

test('paintRanges() paints parts of a text whose colors do not count', () => {
  const line = 'ab\u001b[1mcd\u001b[22mef'
  const words: string[] = []
  const painted = paintRanges(
    line,
    [
      { start: 1, end: 3 },
      { start: 5, end: 6 },
    ],
    (word) => {
      words.push(word)
      return `<${word}>`
    },
  )
  assert.equal(painted, 'a<b>\u001b[1m<c>d\u001b[22me<f>')
  assert.deepEqual(words, ['b', 'c', 'f'])
})
