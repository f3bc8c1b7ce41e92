import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyEdits } from '../../../../src/core/hooks/files/apply-edits.ts'
import type { Edit } from '../../../../src/core/hooks/files/arguments.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const few = fc.constantFrom('a', 'b', ' ', '\t', '\n', '$&', 'é', '🦀')
const text = fc.string({ unit: few, maxLength: 40 })
const piece = fc.string({ unit: few, minLength: 1, maxLength: 4 })

test('applyEdits() replaces like String.replace(), and only a unique match', () => {
  fc.assert(
    fc.property(text, piece, text, (before, old, replacement) => {
      fc.pre(old !== replacement)
      const result = applyEdits(before, [one(old, replacement)])
      const count = before.split('').filter((_, at) => before.startsWith(old, at)).length
      if (count === 1)
        assert.equal(
          'text' in result && result.text,
          before.replace(old, () => replacement),
        )
      else
        assert.match(
          'problem' in result ? result.problem : '',
          count === 0 ? /does not occur/ : /occurs \d+ times/,
        )
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('applyEdits() replaces all like String.replaceAll()', () => {
  fc.assert(
    fc.property(text, piece, text, (before, old, replacement) => {
      fc.pre(old !== replacement && before.includes(old))
      const result = applyEdits(before, [{ ...one(old, replacement), all: true }])
      assert.equal(
        'text' in result && result.text,
        before.replaceAll(old, () => replacement),
      )
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('applyEdits() applies several edits to the original text, in any order', () => {
  const parts = fc.array(fc.tuple(fc.nat(9), fc.boolean()), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(parts, fc.boolean(), (list, isReversed) => {
      const lines = list.map(([number], at) => `${at}:${number}\n`)
      const after = list.map(([number, isChanged], at) =>
        isChanged ? `${at + 1}:${number}\n` : `${at}:${number}\n`,
      )
      const edits = lines.flatMap((line, at) => (line === after[at] ? [] : [one(line, after[at]!)]))
      fc.pre(edits.length > 0)
      const result = applyEdits(lines.join(''), isReversed ? edits.toReversed() : edits)
      assert.equal('text' in result && result.text, after.join(''))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('applyEdits() keeps line ends outside its edits, and adopts the surrounding ones inside', () => {
  const lines = fc.array(fc.tuple(fc.string({ unit: few, maxLength: 5 }), fc.constantFrom('\n', '\r\n')), {
    minLength: 3,
    maxLength: 10,
  })
  fc.assert(
    fc.property(lines, fc.nat(), (list, chance) => {
      const clean = list.map(([line, end]) => `${line.replaceAll('\n', ' ')}${end}`)
      const at = chance % clean.length
      const [, end] = list[at]!
      const marked = clean.with(at, `<here>${end}`)
      const result = applyEdits(marked.join(''), [one('<here>\n', 'x\ny\n')])
      assert.equal('text' in result && result.text, clean.with(at, `x${end}y${end}`).join(''))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('applyEdits() matches a line feed against CRLF, and CRLF in an edit against a line feed', () => {
  assert.equal(textAfter('a\r\nb\r\nc\r\n', one('a\nb', 'x\ny\nz')), 'x\r\ny\r\nz\r\nc\r\n')
  assert.equal(textAfter('a\r\nb\r\n', one('a\r\nb', 'x\r\ny')), 'x\r\ny\r\n')
  assert.equal(textAfter('a\r\nb', one('b', 'b\nc')), 'a\r\nb\r\nc')
  assert.equal(textAfter('a\r\nb\r\n', one('b\n', '')), 'a\r\n')
  assert.equal(textAfter('a\nb\r\n', one('a', 'a\nx')), 'a\nx\nb\r\n')
  assert.equal(textAfter('a\rb\r\n', one('a\rb', 'c')), 'c\r\n')
  assert.equal(textAfter('a\nb\n', one('b', 'b\r\nc')), 'a\nb\r\nc\n')
  assert.match(textAfter('a\r\nb\r\n', one('a\nb', 'a\r\nb')), /differ only in line endings/)
})

test('applyEdits() returns the positions of the changes in the new text', () => {
  const result = applyEdits('one two three', [one('three', '3'), one('one', 'first'), one(' two', '')])
  assert.ok('places' in result)
  assert.equal(result.text, 'first 3')
  const shown = result.places.map(({ start, end }) => result.text.slice(start, end))
  assert.deepEqual(shown, ['first', '', '3'])
})

const REFUSED: Record<string, { text: string; edits: Edit[]; problem: RegExp; hint?: RegExp }> = {
  'a text that occurs several times': {
    text: 'a\nb\na\n',
    edits: [one('a', 'b')],
    problem: /^old occurs 2 times, at lines 1, 3$/,
    hint: /add lines around it to old, or set all/,
  },
  'a text that occurs very often': {
    text: 'a\n'.repeat(20),
    edits: [one('a', 'b')],
    problem: /^old occurs 20 times, at lines 1, 2, .*, 10, …$/,
  },
  'a text that occurs too often to count': {
    text: 'a'.repeat(2_000),
    edits: [one('a', 'b')],
    problem: /^old occurs at least 1000 times, at lines 1, …$/,
  },
  'an edit whose file would become too large': {
    text: 'a'.repeat(1_000_000),
    edits: [{ ...one('a', 'x'.repeat(1_000)), all: true }],
    problem: /^it would become too large: 1000000000 characters$/,
  },
  'a text that overlaps itself': {
    text: 'aaa',
    edits: [one('aa', 'b')],
    problem: /occurs 2 times, at lines 1$/,
  },
  'edits of one place': {
    text: 'x\nabc\n',
    edits: [one('bc', '1'), one('ab', '2')],
    problem: /^edits\[0\] and edits\[1\] overlap at line 2$/,
  },
  'an edit of a text that another one inserts': {
    text: 'abc',
    edits: [one('abc', 'xyz'), one('xyz', 'q')],
    problem: /^edits\[1\]\.old does not occur/,
    hint: /all edits apply to the original file/,
  },
  'all of nothing': { text: 'abc', edits: [{ ...one('x', 'y'), all: true }], problem: /^old does not occur/ },
}
for (const [what, { text: before, edits, problem, hint = /(?:)/ }] of Object.entries(REFUSED)) {
  test(`applyEdits() rejects ${what}`, () => {
    const result = applyEdits(before, edits)
    assert.ok('problem' in result)
    assert.match(result.problem, problem)
    assert.match(result.hint ?? '', hint)
  })
}

function one(old: string, replacement: string): Edit {
  return { old, new: replacement, all: false }
}

function textAfter(before: string, edit: Edit): string {
  const result = applyEdits(before, [edit])
  return 'text' in result ? result.text : result.problem
}
