import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFrontMatter } from '../../../src/core/skills/front-matter.ts'

test('readFrontMatter() reads texts as YAML does', () => {
  const cases: readonly [string, string][] = [
    ['name: pdf-tools', 'pdf-tools'],
    ['name:   spaced out  # said aside', 'spaced out'],
    ['name: a#b', 'a#b'],
    ['name: "a: \\"b\\"\\n# c" # d', 'a: "b"\n# c'],
    ["name: 'it''s: fine'", "it's: fine"],
    ['name: begins here\n  and goes on\n  # there', 'begins here and goes on'],
    ['name: "begins here\n  and goes on"', 'begins here and goes on'],
    ['name: >-\n  folded\n  text\n\n  and more\n', 'folded text\nand more'],
    ['name: |\n  line one\n    line two\n', 'line one\n  line two'],
    ['name:\n  below', 'below'],
    ['name:', ''],
    ['name: http://x/y', 'http://x/y'],
    ['name: Use this when: now, or\n  if so: later', 'Use this when: now, or if so: later'],
  ]
  for (const [yaml, value] of cases) {
    const matter = readFrontMatter(`---\n${yaml}\nlicense: MIT\n---\n# Body\nname: not this\n`)
    assert.ok(matter.ok, yaml)
    assert.deepEqual(
      [...matter.texts],
      [
        ['name', value],
        ['license', 'MIT'],
      ],
      yaml,
    )
  }
})

test('readFrontMatter() omits tables and lists', () => {
  const yaml = [
    'name: x',
    'metadata:',
    '  author: me',
    '  name: not this',
    'allowed-tools:',
    '  - Bash(git *)',
    '  - Read',
    'other:',
    '- a',
    'flow: [a, b]',
    '# a comment',
    '',
    'description: y',
  ]
  const matter = readFrontMatter(`---\r\n${yaml.join('\r\n')}\r\n---\r\n`)
  assert.ok(matter.ok)
  assert.deepEqual([...matter.texts.keys()], ['name', 'description'])
})

test('readFrontMatter() reads a block of any number of lines', () => {
  const matter = readFrontMatter(`---\nname: |\n${' a\n'.repeat(300_000)}---\n`)
  assert.ok(matter.ok)
  assert.equal(matter.texts.get('name')?.length, 2 * 300_000 - 1)
})

test('readFrontMatter() rejects unknown syntax, and names the line', () => {
  const cases: readonly [string, number, RegExp][] = [
    ['# Skill\n', 1, /does not start with front matter/],
    ['---\nname: x\n', 1, /does not end with ---/],
    ['---\nname: x\njust words\n---\n', 3, /key: value/],
    ['---\nname: x\nname: y\n---\n', 3, /second "name"/],
    ['---\n\nname: "x\n---\n', 3, /quote/],
    ['---\nname: "x" y\n---\n', 2, /quote/],
    ['---\nname: "\\q"\n---\n', 2, /escape/],
    ['---\nname: *ref\n---\n', 2, /starts with "\*"/],
    ['---\nname: !tag x\n---\n', 2, /starts with "!"/],
    ['---\n  name: x\n---\n', 2, /key: value/],
  ]
  for (const [text, line, message] of cases) {
    const matter = readFrontMatter(text)
    assert.ok(!matter.ok, text)
    assert.equal(matter.line, line, text)
    assert.match(matter.message, message)
  }
})
