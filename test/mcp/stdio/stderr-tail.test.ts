import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStderrTail, LineTail } from '../../../src/mcp/stdio/stderr-tail.ts'

test('LineTail reports whole lines as they come, as lines() would return them', () => {
  const reports: string[][] = []
  const tail = new LineTail((line) => line.replaceAll('s3cr3t', '[secret]'))
  tail.push(Buffer.from('before\n'))
  tail.onLines = (read) => void reports.push(read())
  for (const piece of ['one\ntw', 'o s3c', 'r3t\r\n\u001b[31mred\n', 'open']) tail.push(Buffer.from(piece))
  assert.deepEqual(reports, [['one'], ['two [secret]', 'red']])
  assert.deepEqual(tail.lines(), ['before', 'one', 'two [secret]', 'red', 'open'])
})

test('LineTail keeps the last 200 lines, and an unfinished one', () => {
  const tail = new LineTail()
  for (let i = 1; i <= 1_000; i++) tail.push(Buffer.from(`line ${i}\r\n`))
  tail.push(Buffer.from('open'))
  const lines = tail.lines()
  assert.deepEqual(
    [lines.length, lines[0], lines.at(-2), lines.at(-1)],
    [200, 'line 802', 'line 1000', 'open'],
  )
})

test('LineTail joins lines and characters that arrive in pieces', () => {
  const tail = new LineTail()
  for (const byte of Buffer.from('größe 🦀\nnext')) tail.push(Uint8Array.of(byte))
  assert.deepEqual(tail.lines(), ['größe 🦀', 'next'])
})

test('LineTail keeps the start of an endless line', () => {
  const tail = new LineTail()
  for (let i = 0; i < 100; i++) tail.push(Buffer.alloc(100_000, 'x'))
  assert.deepEqual(
    tail.lines().map(({ length }) => length),
    [2_000],
  )
})

test('LineTail masks before it cuts', () => {
  const tail = new LineTail((line) => line.replaceAll('s3cr3t', '[secret]'))
  tail.push(Buffer.from(`${'x'.repeat(1_997)}s3cr3t and more\n`))
  const [line = ''] = tail.lines()
  assert.deepEqual([line.slice(1_996), line.length], ['x[s…', 2_000])
})

test('LineTail marks what it dropped, so that half a secret is still recognized', () => {
  const ends: string[] = []
  const tail = new LineTail((line) => {
    ends.push(line.slice(-4))
    return line
  })
  for (let i = 0; i < 5; i++) tail.push(Buffer.alloc(1_000, 'x'))
  tail.lines()
  assert.deepEqual(ends, ['xxx…'])
})

test('LineTail removes control sequences', () => {
  const tail = new LineTail()
  tail.push(Buffer.from('\u001b[31mred\u001b[0m\u0007\n'))
  assert.deepEqual(tail.lines(), ['red'])
})

test('LineTail puts notes on their own lines', () => {
  const tail = new LineTail()
  tail.push(Buffer.from('open'))
  tail.note('it ended')
  tail.push(Buffer.from('next'))
  assert.deepEqual(tail.lines(), ['open', '[crabtalk: it ended]', 'next'])
  assert.equal(describeStderrTail(['Error: old', '[crabtalk: it ended]', 'calm']), 'calm')
})

const WORDS: Record<string, [string, string]> = {
  nothing: ['', ''],
  'one line': ['starting\nno config\n', 'no config'],
  'a stack of Node': [
    '/x/server.js:3\n  throw new Error("x")\n  ^\n\nError: no token\n    at main (server.js:3:1)\n\nNode.js v26.0.0\n',
    'Error: no token',
  ],
  'a traceback of Python': [
    'Traceback (most recent call last):\n  File "s.py", line 1, in <module>\n    main()\nValueError: no key\n',
    'ValueError: no key',
  ],
  'several lines of npm': [
    'npm error code E404\nnpm error 404 Not Found - GET https://r/x\nnpm error A complete log of this run is in /l\n',
    'npm error 404 Not Found - GET https://r/x',
  ],
  'an old error and calm last words': ['error: old\nlistening\nbye\n', 'error: old'],
  'a warning before an error': [
    'Warning: Cannot access directory /x\nError: None of the directories are accessible\n',
    'Error: None of the directories are accessible',
  ],
  'only indented lines': ['  a\n  b\n', 'b'],
}
for (const [what, [text, words]] of Object.entries(WORDS)) {
  test(`describeStderrTail() of ${what} is ${JSON.stringify(words)}`, () => {
    assert.equal(describeStderrTail(text.split('\n')), words)
  })
}
