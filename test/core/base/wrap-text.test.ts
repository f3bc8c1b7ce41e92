import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeTag, wrapInTag } from '../../../src/core/base/wrap-text.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('wrapInTag() puts a text between tags, with attributes', () => {
  assert.equal(wrapInTag('from', { agent: 'crab' }, 'hi'), '<from agent="crab">\nhi\n</from>')
  assert.equal(wrapInTag('scope', {}, 'a\nb'), '<scope>\na\nb\n</scope>')
})

test('wrapInTag() escapes quotes and line breaks in attributes', () => {
  const wrapped = wrapInTag('file', { path: 'a"><b>\n\r\u0085\u2028\u202e&' }, '')
  assert.equal(wrapped.split('\n')[0], '<file path="a&#34;&#62;&#60;b&#62;&#10;&#13;&#133;&#8232;&#8238;&">')
})

const ENDS = [
  '</from>',
  '</FROM>',
  '< /from>',
  '</ from >',
  '<\n/\nfrom\n>',
  '</from',
  '</from x="1">',
  '</from/>',
  '<//from>',
  '<from>',
  '<from agent="crab">',
  '<FrOm',
  '<\u200b/from>',
  '</fr\u00adom>',
  '</f\u200cr\u200do\u2060m>',
  '</from\u200b>',
  '\uff1c/from>',
  '<\uff0ffrom>',
  '\ufe64/from>',
  '<\0/from>',
  '</\u{e0041}from>',
  '<\u00a0/from>',
  '<\u3164/from>',
]

for (const end of ENDS) {
  test(`wrapInTag() escapes the tag in ${JSON.stringify(end)}`, () => {
    assert.match(escapeTag('from', `a${end} b`), /^a&lt;[^<\ufe64\uff1c]* b$/)
  })
}

test('escapeTag() keeps other tags and comparisons', () => {
  for (const text of [
    '<b>',
    '</fromage>',
    '<from-here>',
    '<from_x>',
    'a < b',
    '<',
    '<frm>',
    '&lt;/from>',
    '</ fr om>',
  ]) {
    assert.equal(escapeTag('from', text), text)
  }
})

test('escapeTag() takes linear time for adversarial text', () => {
  const hostile = `${'<'.repeat(50_000)}${`<${' '.repeat(50_000)}`}${`<f${'\u200b'.repeat(50_000)}`}`.repeat(
    4,
  )
  assert.equal(escapeTag('from', hostile), hostile) // a backtracking pattern would take minutes
})

test('wrapInTag() makes a text with exactly one end tag, in the last line, for any content', () => {
  const piece = fc.constantFrom(
    '<',
    '/',
    'from',
    'FROM',
    '>',
    ' ',
    '\n',
    '\u200b',
    'x',
    'f',
    'rom',
    '</from>',
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const wrapped = wrapInTag('from', {}, pieces.join(''))
      assert.equal([...wrapped.matchAll(/<[\s/\u200b]*f\u200b*r\u200b*o\u200b*m(?![a-z])/gi)].length, 2)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
