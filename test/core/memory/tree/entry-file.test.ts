import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatEntryFile, parseEntryFile } from '../../../../src/core/memory/tree/entry-file.ts'
import type { MemoryEntry } from '../../../../src/core/memory/types.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const ENTRY: MemoryEntry = {
  id: 1n,
  createdAt: 1_776_162_225n,
  kind: 'note',
  name: 'deploy',
  content: 'prod rollout steps ...',
  aliases: ['ship', 'release'],
}

const FILE = `<div id="meta">
<dl>
  <dt>Created</dt>
  <dd><time datetime="2026-04-14T10:23:45Z">2026-04-14T10:23:45Z</time></dd>
  <dt>Aliases</dt>
  <dd><ul><li>ship</li><li>release</li></ul></dd>
</dl>
</div>

prod rollout steps ...
`

test("formatEntryFile() writes the block, and the name only if it differs from the file's", () => {
  assert.equal(formatEntryFile(ENTRY, 'deploy'), FILE)
  assert.match(
    formatEntryFile({ ...ENTRY, name: '<a>/b' }, 'a-b'),
    /<dt>Name<\/dt>\n {2}<dd>&lt;a&gt;\/b<\/dd>/,
  )
  assert.doesNotMatch(formatEntryFile({ ...ENTRY, aliases: [] }, 'deploy'), /Aliases/)
})

test('parseEntryFile() reverses formatEntryFile()', () => {
  const piece = fc.constantFrom(
    '<div id="meta">',
    '</div>',
    '<li>',
    '&amp;',
    '&#32;',
    ' ',
    '\n',
    '\r\n',
    '\ufeff',
  )
  const mixed = fc.array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 5 })
  const text = mixed.map((pieces) => pieces.join('').toWellFormed())
  const time = fc.oneof(fc.bigInt(0n, 2n ** 34n), fc.bigInt(0n, 2n ** 64n - 1n))
  fc.assert(
    fc.property(text, text, fc.array(text, { maxLength: 3 }), time, (name, content, aliases, createdAt) => {
      const file = formatEntryFile({ ...ENTRY, name, content, aliases, createdAt }, 'no such name')
      const head = file.slice(0, file.indexOf('</div>'))
      assert.doesNotMatch(head, /\n\s*\n|\r/, 'an empty line would end the HTML')
      assert.deepEqual(parseEntryFile(file), { name, content, aliases, createdAt })
    }),
    { numRuns: propertyRuns(300) },
  )
})

test('parseEntryFile() treats a text without the block as content', () => {
  const none = { name: undefined, createdAt: undefined, aliases: [] }
  for (const [text, content] of [
    ['', ''],
    ['hello', 'hello'],
    ['# A\n\nb\n', '# A\n\nb'],
    ['\ufeffa\r\nb\r\n', 'a\r\nb'],
    ['a\n\n', 'a\n'],
    [' <div id="meta">', ' <div id="meta">'],
  ]) {
    assert.deepEqual(parseEntryFile(text!), { ...none, content })
  }
})

test('parseEntryFile() accepts how people and editors write the block', () => {
  const whole = {
    name: undefined,
    createdAt: ENTRY.createdAt,
    aliases: ENTRY.aliases,
    content: ENTRY.content,
  }
  assert.deepEqual(parseEntryFile(FILE.replaceAll('\n', '\r\n')), whole)
  assert.deepEqual(parseEntryFile(`\ufeff${FILE}`), whole)
  assert.deepEqual(parseEntryFile(FILE.trimEnd()), whole)
  assert.deepEqual(parseEntryFile(FILE.replaceAll(/\n {2}/g, '')), whole)
  const spread = FILE.replace('<li>ship</li>', '\n    <li> ship </li>\n    ')
  assert.deepEqual(parseEntryFile(spread), whole)
  const plain = '<div id="meta"><dl><dt>Created</dt><dd>2026-04-14</dd></dl></div>'
  assert.deepEqual(parseEntryFile(`${plain}\nx`), {
    ...whole,
    createdAt: 1_776_124_800n,
    aliases: [],
    content: 'x',
  })
})

test('parseEntryFile() rejects a block that it would read incompletely', () => {
  for (const [block, why] of [
    ['<dl></dl>', /no <\/div>/],
    ['</div>', /<dl>/],
    ['hello<dl></dl></div>', /<dl>/],
    ['<dl><dt>Tags</dt><dd>a</dd></dl></div>', /"Tags"/],
    ['<dl><dt>Name</dt></dl></div>', /pairs of <dt> and <dd>/],
    ['<dl>x<dt>Name</dt><dd>a</dd></dl></div>', /pairs of <dt> and <dd>/],
    ['<dl><dt>Created</dt><dd>yesterday</dd></dl></div>', /"yesterday" is not a timestamp/],
    ['<dl><dt>Created</dt><dd>@99999999999999999999</dd></dl></div>', /not a timestamp/],
    ['<dl><dt>Aliases</dt><dd>a, b</dd></dl></div>', /not a <ul>/],
    ['<dl><dt>Aliases</dt><dd><ul>a<li>b</li></ul></dd></dl></div>', /something other than <li>/],
  ] as const) {
    assert.throws(() => parseEntryFile(`<div id="meta">${block}`), { kind: 'invalid', message: why }, block)
  }
})
