import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainMiss } from '../../../../src/core/hooks/files/explain-miss.ts'

const CODE = 'import a\n\nfunction one() {\n\treturn a(1)  \n}\n\nfunction two() {\n\treturn “b” – c\n}\n'

const MISSES: Record<string, { text?: string; old: string; new?: string; says: string }> = {
  'blanks at the end of a line': {
    old: '\treturn a(1)\n}',
    says: 'old does not occur; line 4 differs in trailing spaces: the file has "\\treturn a(1)  ", old has "\\treturn a(1)"',
  },
  'spaces instead of a tab': {
    old: 'function one() {\n    return a(1)  \n}',
    says: 'old does not occur; line 4 differs in its indentation: the file has "\\treturn a(1)  ", old has "    return a(1)  "',
  },
  'spaces within a line': {
    old: 'function  one() {',
    says: 'old does not occur; line 3 differs in spaces and tabs: the file has "function one() {", old has "function  one() {"',
  },
  'quotes and dashes': {
    old: 'return "b" - c',
    says: 'old does not occur; line 8 differs in quotes, dashes or special spaces: the file has "\\treturn “b” – c", old has "return \\"b\\" - c"',
  },
  'upper and lower case': {
    old: 'Function Two()',
    says: 'old does not occur; line 7 differs in upper and lower case: the file has "function two() {", old has "Function Two()"',
  },
  'several differences': {
    old: '  Return "b"  -  c',
    says: 'old does not occur; line 8 differs in several ways: the file has "\\treturn “b” – c", old has "  Return \\"b\\"  -  c"',
  },
  'escapes that were written out': {
    old: 'import a\\n\\nfunction',
    says: 'old does not occur; it has \\n, \\t or \\" written out; send the characters themselves',
  },
  'line numbers': {
    old: '1\timport a\n2\t\n3\tfunction one() {',
    says: 'old does not occur; it has line numbers, which are not in the file',
  },
  'a newline that is not there at the end': {
    text: 'a\nb',
    old: 'b\n',
    says: 'old does not occur; the file ends there without a newline',
  },
  'CRLF in a file without': {
    text: 'a\nb\n',
    old: 'a\r\nb',
    says: 'old does not occur; it has CRLF, but lines of the file end with LF',
  },
  'one different line of several': {
    old: 'function two() {\n\treturn b\n}',
    says: 'old does not occur; the closest match is line 7; line 8 differs: the file has "\\treturn “b” – c", old has "\\treturn b"',
  },
  'a place near the start': {
    text: 'b\nfunction one\n',
    old: 'x\na\nb\nfunction one',
    says: 'old does not occur; the closest match is line 2: "function one"',
  },
  'a word that is misspelt': {
    old: 'function twoo() {',
    says: 'old does not occur; the closest match is line 7: "function two() {"',
  },
  'an edit that is already made': {
    old: 'function zero(x, y, z) { return }',
    new: 'function two() {',
    says: 'old does not occur (the new text is already there, at line 7)',
  },
  'a text that does not occur': {
    old: 'quite something else',
    says: 'old does not occur (read the file again)',
  },
  'blank lines': { old: '\n\n\n\n', says: 'old does not occur (read the file again)' },
  'anything in an empty file': {
    text: '',
    old: 'a',
    says: 'old does not occur: the file is empty (use write)',
  },
}

for (const [what, { text = CODE, old, new: replacement = 'new', says }] of Object.entries(MISSES)) {
  test(`explainMiss() recognizes ${what}`, () => {
    const { problem, hint } = explainMiss(text, { old, new: replacement, all: false }, 'old')
    assert.equal(problem + (hint === undefined ? '' : ` (${hint})`), says)
  })
}

test('explainMiss() quotes long lines around the first difference', () => {
  const { problem } = explainMiss(
    `${'x'.repeat(5_000)} a${'y'.repeat(5_000)}\n`,
    miss(`${'x'.repeat(5_000)}  a`),
    'old',
  )
  assert.match(problem, /the file has …"x{49} ay{49}"…, old has …"x{49} {2}a"$/)
})

test('explainMiss() does not search long texts', () => {
  const { problem, hint } = explainMiss(`${'word\n'.repeat(300_000)}`, miss('Word'), 'old')
  assert.deepEqual([problem, hint], ['old does not occur', 'read the lines again'])
})

function miss(old: string) {
  return { old, new: 'new', all: false }
}
