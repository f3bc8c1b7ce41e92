import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  countLines,
  decodeText,
  encodeText,
  type FileText,
  lineAt,
} from '../../../../src/core/hooks/files/text.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const text = fc
  .string({ unit: 'binary' })
  .map((content) => content.replaceAll('\0', '').replace(/^\ufeff+/, ''))
const encodings: FileText['encoding'][] = ['utf-8', 'utf-16le', 'utf-16be']

test('decodeText() reverses encodeText() byte for byte', () => {
  const stored = fc.record({ text, encoding: fc.constantFrom(...encodings), hasMark: fc.boolean() })
  fc.assert(
    fc.property(stored, (content) => {
      const marked = { ...content, hasMark: content.hasMark || content.encoding !== 'utf-8' }
      assert.deepEqual(decodeText(encodeText(marked)), marked)
    }),
    { numRuns: propertyRuns(1_000) },
  )
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const decoded = decodeText(Buffer.from(bytes))
      if (decoded) assert.deepEqual(encodeText(decoded), Buffer.from(bytes))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

const TEXTS: Record<string, { bytes: number[]; text: string }> = {
  'nothing at all': { bytes: [], text: '' },
  'a mark alone': { bytes: [0xef, 0xbb, 0xbf], text: '' },
  'UTF-8 with a mark': { bytes: [0xef, 0xbb, 0xbf, 0xc3, 0xa9], text: 'é' },
  'a second mark as a character': { bytes: [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], text: '\ufeff' },
  'UTF-16, little end first': { bytes: [0xff, 0xfe, 0xe9, 0], text: 'é' },
  'UTF-16, big end first': { bytes: [0xfe, 0xff, 0, 0xe9], text: 'é' },
}
for (const [what, { bytes, text: expected }] of Object.entries(TEXTS)) {
  test(`decodeText() reads ${what}`, () => assert.equal(decodeText(Buffer.from(bytes))?.text, expected))
}

const BINARIES: Record<string, number[]> = {
  'a byte that is not UTF-8': [0x61, 0xff],
  'a character that is cut off': [0xc3],
  'a NUL': [0x61, 0, 0x62],
  'UTF-16 of an odd length': [0xff, 0xfe, 0x61],
  'half of a surrogate pair': [0xff, 0xfe, 0, 0xd8],
  'UTF-32': [0xff, 0xfe, 0, 0, 0x61, 0, 0, 0],
  'a surrogate in UTF-8': [0xed, 0xa0, 0x80],
}
for (const [what, bytes] of Object.entries(BINARIES)) {
  test(`decodeText() treats ${what} as binary`, () => assert.equal(decodeText(Buffer.from(bytes)), undefined))
}

test('countLines() and lineAt() count like split()', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\r\n') }), fc.nat(30), (content, position) => {
      const lines = content.split('\n')
      assert.equal(countLines(content), lines.at(-1) === '' ? lines.length - 1 : lines.length)
      assert.equal(lineAt(content, position), content.slice(0, position).split('\n').length)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
