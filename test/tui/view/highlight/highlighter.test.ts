import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LANGUAGES } from '../../../../src/tui/view/highlight/highlighter.ts'
import { loadHighlight } from '../../../../src/tui/view/highlight/load.ts'
import { paint } from '../../../../src/tui/view/style.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { assertPrintable, plain } from '../support.ts'

const highlight = await loadHighlight()
const PIECES = [
  'if',
  ' ',
  '\n',
  '"',
  "'",
  '`',
  '/*',
  '*/',
  '//',
  '#',
  '<a b="c">',
  '</a>',
  '&lt;',
  '&',
  '${',
  '}',
  '{',
]
const CODE = fc.string({
  maxLength: 60,
  unit: fc.constantFrom(...PIECES, '1.5e3', 'x', '=', '(', ')', '<?php', '漢'),
})

for (const language of Object.keys(LANGUAGES)) {
  test(`the highlighter colors ${language} without changing a character`, () => {
    fc.assert(
      fc.property(CODE, (code) => {
        const lines = highlight(code, language)!
        assertPrintable(lines, 10_000)
        assert.equal(plain(lines).join('\n'), code)
      }),
      { numRuns: propertyRuns(300, 30) },
    )
  })
}

test('the highlighter knows the short names of languages', () => {
  for (const name of [
    'js',
    'ts',
    'tsx',
    'jsx',
    'py',
    'rb',
    'rs',
    'sh',
    'zsh',
    'yml',
    'toml',
    'html',
    'md',
    'c++',
    'cs',
    'kt',
  ]) {
    assert.ok(highlight('x', name), name)
  }
  for (const name of ['console', 'JSON', 'jsonl', 'ps1', 'golang', 'Dockerfile', 'make', 'svg']) {
    assert.ok(highlight('x', name), name)
  }
})

test('the highlighter leaves unknown languages and very long code alone', () => {
  assert.equal(highlight('x', 'klingon'), undefined)
  assert.equal(highlight('x', ''), undefined)
  assert.equal(highlight('x = 1\n'.repeat(10_000), 'py'), undefined)
})

test('the highlighter colors a language within another', () => {
  const [line = ''] = highlight('<p>x</p><script>let a = 1</script>', 'html')!
  assert.ok(line.includes(`${paint('let', true, 'keyword')} a = ${paint('1', true, 'number')}`), line)
})
