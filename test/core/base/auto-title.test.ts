import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { MAX_AUTO_TITLE, shownTitle, toAutoTitle } from '../../../src/core/base/auto-title.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('toAutoTitle() takes the first sentence or clause', () => {
  const cases: [string, string][] = [
    ['fix the failing test', 'fix the failing test'],
    ['Fix the failing test. Then run all of them.', 'Fix the failing test'],
    ['Hi! Why is the build slow?', 'Why is the build slow?'],
    ['Version 1.2.3 crashes on start', 'Version 1.2.3 crashes on start'],
    ['数螃蟹。然后走。', '数螃蟹。'],
    [
      'Refactor the parser of the configuration, keep the tests as they are and do not touch the docs',
      'Refactor the parser of the configuration…',
    ],
    [
      'please rename all the functions that end in Of to something that a reader understands at once',
      'please rename all the functions that end in Of…',
    ],
    ['', ''],
    ['   ', ''],
  ]
  for (const [text, title] of cases) assert.equal(toAutoTitle(text), title)
})

test('toAutoTitle() leaves out code, paths, mentions and marks at the start', () => {
  const cases: [string, string][] = [
    ['```ts\nconst a = 1\n```\nWhy does this fail?', 'Why does this fail?'],
    ['```\nonly code\n```', 'only code'],
    ['src/core/a.ts: explain it', 'explain it'],
    ['@src/a.ts @b.ts compare these', 'compare these'],
    ['/tmp/log.txt what happened here', 'what happened here'],
    ['> # **Goal** of `this`', 'Goal of this'],
    ['1. first do this', 'first do this'],
    ['/tmp/only/a/path', '/tmp/only/a/path'],
    ['<shell command="ls" exit="0">\na b\n</shell>\n\nwhat is a', 'what is a'],
    ['Ev\u001b]0;pwn\u0007il title', 'Evil title'],
  ]
  for (const [text, title] of cases) assert.equal(toAutoTitle(text), title)
})

test('toAutoTitle() marks a preview that was cut off', () => {
  const preview = `/home/ann/projects/one/two/three/four/five/six/seven.ts fix this and that soo`.padEnd(
    80,
    'n',
  )
  assert.equal([...preview].length, 80)
  assert.match(toAutoTitle(preview), /^fix this and that.*…$/)
})

test('toAutoTitle() is never too wide, and splits no grapheme', () => {
  assert.equal(toAutoTitle('👩‍👩‍👧'.repeat(40)), `${'👩‍👩‍👧'.repeat(23)}…`)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const title = toAutoTitle(text)
      assert.ok([...new Intl.Segmenter().segment(title)].length <= MAX_AUTO_TITLE)
      assert.doesNotMatch(title, /\p{Cc}/u)
      if (/^[\x20-\x7e]*$/.test(title)) assert.ok(stringWidth(title) <= MAX_AUTO_TITLE)
    }),
    { numRuns: propertyRuns(300) },
  )
})

test('shownTitle() prefers the title that was set', () => {
  assert.equal(shownTitle({ title: 'Mine', preview: 'fix it' }), 'Mine')
  assert.equal(shownTitle({ title: '', preview: 'fix it. Now.' }), 'fix it')
})

test('toAutoTitle() shows the shell line of a preview that was cut inside its output', () => {
  assert.equal(toAutoTitle('<shell command="ls -a" exit="0"> CLAUDE.md README.'), 'ls -a')
})

test('an automatic title leaves out files and standard input that were sent with the message', () => {
  for (const [text, title] of [
    ['FIX it in @src/a.js\n\n<file path="src/a.js">\nlet a\n</file>', 'FIX it in @src/a.js'],
    ['FIX it in @src/a.js <file path="sr', 'FIX it in @src/a.js'],
    ['what is @note.md <file path="note.md"> hi </file>', 'what is @note.md'],
    ['Review this\n\n<stdin>\ndiff --git a b\n</stdin>', 'Review this'],
  ] as const) {
    assert.equal(toAutoTitle(text), title)
  }
})
