import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toSvg } from '../../scripts/docs/screen-svg.ts'

const draw = (...lines: string[]) =>
  toSvg(lines, { columns: 20, title: 'A <b>', backgrounds: new Map([['48;2;1;2;3', 'tint']]), css: '' })

test('toSvg() draws each group of words at its column, with its style, and escapes it', () => {
  const svg = draw('\u001b[0;1;36ma & b\u001b[0m  \u001b[0;2m<c>\u001b[0m')
  assert.match(svg, /<title>A &lt;b&gt;<\/title>/)
  assert.match(svg, /<text x="14" y="28" textLength="42" class="b c6">a &amp; b<\/text>/)
  assert.match(svg, /<text x="72.8" y="28" textLength="25.2" class="d">&lt;c&gt;<\/text>/)
})

test('toSvg() draws one rectangle behind neighbors with the same background', () => {
  const svg = draw('', '\u001b[0;31;48;2;1;2;3mab\u001b[0;32;48;2;1;2;3mc \u001b[0;48;2;9;9;9md\u001b[0m')
  assert.match(svg, /<rect x="14" y="33" width="33.6" height="19" class="tint"\/>/)
  assert.match(svg, /<rect x="47.6" y="33" width="8.4" height="19" fill="rgb\(9 9 9\)"\/>/)
  assert.equal(svg.match(/<rect /g)?.length, 3)
})

test('toSvg() has colors for light and dark readers, and needs no font', () => {
  assert.match(draw('x'), /prefers-color-scheme:light/)
  assert.doesNotMatch(draw('x'), /@import|@font-face|url\(/)
})
