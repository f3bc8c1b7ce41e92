import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { excerpt } from '../../../../src/core/hooks/files/excerpt.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const EXCERPTS: Record<string, { text: string; offset?: number; limit?: number; shown: string | undefined }> =
  {
    'a whole text without a note': { text: 'one\ntwo\n', shown: 'one\ntwo' },
    'a text that does not end with a newline': {
      text: 'one\ntwo',
      shown: 'one\ntwo\n[no newline at the end]',
    },
    'an empty text': { text: '', shown: '[The file is empty.]' },
    'an empty text from any line': { text: '', offset: 7, shown: '[The file is empty.]' },
    'a text of empty lines': { text: '\n\n', shown: '\n\n[lines 1-2 of 2]' },
    'empty lines at the end': { text: 'a\n\n\n', shown: 'a\n\n' },
    'CRLF as a remark': { text: 'one\r\ntwo\r\n', shown: 'one\ntwo\n[lines end with CRLF]' },
    'mixed line ends as a remark': { text: 'one\r\ntwo\n', shown: 'one\ntwo\n[some lines end with CRLF]' },
    'a carriage return that ends no line': { text: 'a\rb\n\r', shown: 'a\rb\n\r\n[no newline at the end]' },
    'every script': { text: '日本語\n👩‍👩‍👧 é\n', shown: '日本語\n👩‍👩‍👧 é' },
    'from a line': { text: 'a\nb\nc\n', offset: 2, shown: 'b\nc\n[lines 2-3 of 3]' },
    'the requested number of lines': { text: 'a\nb\nc\n', limit: 2, shown: 'a\nb\n[lines 1-2 of 3]' },
    'a part in the middle': { text: 'a\nb\nc', offset: 2, limit: 1, shown: 'b\n[lines 2-2 of 3]' },
    'all for a limit above its length': { text: 'a\nb\n', limit: 99, shown: 'a\nb' },
    'nothing after the last line': { text: 'a\nb\n', offset: 3, shown: undefined },
  }
for (const [what, { text, offset = 1, limit, shown }] of Object.entries(EXCERPTS)) {
  test(`excerpt() shows ${what}`, () => assert.equal(excerpt(text, { offset, limit }), shown))
}

test('excerpt() says where to continue, so that the parts make up the text', () => {
  const line = fc.oneof(
    fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[\n\r]/g, ' ')),
    fc.integer({ min: 0, max: 1_900 }).map((length) => 'x'.repeat(length)),
  )
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 3_000, size: 'max' }), (lines) => {
      const text = `${lines.join('\n')}\n`
      const got: string[] = []
      for (let offset: number | undefined = 1; offset !== undefined; ) {
        const { content, next } = splitParts(excerpt(text, { offset, limit: undefined })!)
        assert.ok(content.length <= 50_000)
        got.push(...content.split('\n'))
        offset = next
      }
      assert.deepEqual(got, lines)
    }),
    { numRuns: propertyRuns(200, 20) },
  )
})

test('excerpt() returns at most 2000 lines for any request', () => {
  const text = 'x\n'.repeat(3_000)
  for (const limit of [undefined, 2_500, 5_000])
    assert.match(
      excerpt(text, { offset: 1, limit })!,
      /\n\[lines 1-2000 of 3000; continue with offset 2001\]$/,
    )
  assert.match(excerpt(text, { offset: 1, limit: 2_000 })!, /\n\[lines 1-2000 of 3000\]$/)
})

test('excerpt() returns at most 50,000 characters, truncating long lines if necessary', () => {
  const shown = (...lengths: number[]) => {
    const text = lengths.map((length) => `${'x'.repeat(length)}\n`).join('')
    return excerpt(text, { offset: 1, limit: undefined })!.replace(/x+/g, (xs) => String(xs.length))
  }
  assert.equal(shown(50_000), '50000')
  assert.equal(shown(50_001), '50000[… 1 more characters]')
  assert.equal(shown(20_000, 29_999), '20000\n29999')
  assert.equal(shown(20_000, 30_000), '2000[… 18000 more characters]\n2000[… 28000 more characters]')
  const many = shown(...Array.from({ length: 26 }, () => 1_999))
  assert.equal(many, `${'1999\n'.repeat(25)}[lines 1-25 of 26; continue with offset 26]`)
})

test('excerpt() shows as much as possible of a long line that is requested alone', () => {
  const text = `a\n${'x'.repeat(60_000)}\nb\n`
  assert.match(excerpt(text, { offset: 1, limit: undefined })!, /^a\nx{2000}\[… 58000 more characters\]\nb$/)
  const alone = excerpt(text, { offset: 2, limit: 1 })!
  assert.match(alone, /^x{50000}\[… 10000 more characters\]\n\[lines 2-2 of 3\]$/)
})

test('excerpt() never cuts inside a character', () => {
  const shown = excerpt(`x${'🦀'.repeat(40_000)}\nnext`, { offset: 1, limit: undefined })!
  assert.ok(shown.isWellFormed())
})

function splitParts(shown: string): { content: string; next: number | undefined } {
  const note = /\n\[lines \d+-\d+ of \d+(?:; continue with offset (\d+))?\]$/.exec(shown)
  const next = note?.[1] === undefined ? undefined : Number(note[1])
  return { content: note ? shown.slice(0, note.index) : shown, next }
}
