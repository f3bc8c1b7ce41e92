import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCallArguments } from '../../../src/commands/mcp/call-arguments.ts'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { makeTestHost, type TestHostOptions } from '../../support/test-host.ts'

/** Words on the command line, and the resulting arguments. */
const WORDS: [string[], JsonObject][] = [
  [[], {}],
  [['path=notes.md', 'n=3', 'deep=true'], { path: 'notes.md', n: 3, deep: true }],
  [
    ['n=-1.5', 'none=null', 'list=[1, "a"]', 'at={"x": 1}'],
    { n: -1.5, none: null, list: [1, 'a'], at: { x: 1 } },
  ],
  [['text=a = b', 'empty=', 'quoted="3"', 'dash=-'], { text: 'a = b', empty: '', quoted: '3', dash: '-' }],
  [['half="open', 'brace={x'], { half: '"open', brace: '{x' }],
  [
    ['id=12345678901234567890', 'hash=1234567e8', 'far=1e999', 'version=1.10'],
    { id: '12345678901234567890', hash: '1234567e8', far: '1e999', version: '1.10' },
  ],
  [['a.b=1'], { 'a.b': 1 }],
  [['{"path": "x", "n": 1}'], { path: 'x', n: 1 }],
]

for (const [words, args] of WORDS) {
  test(`parseCallArguments() reads ${JSON.stringify(words)}`, async () => {
    assert.deepEqual(await parseWords(words), args)
  })
}

test('parseCallArguments() reads an object from standard input', async () => {
  assert.deepEqual(await parseWords(['-'], { stdin: '{"a": 2,\n "b": 3}\n' }), { a: 2, b: 3 })
  for (const stdin of ['', '[1]', 'a=1', '{']) {
    await assert.rejects(parseWords(['-'], { stdin }), {
      kind: 'invalid',
      message: 'Cannot use standard input: it is not a JSON object',
    })
  }
})

test('parseCallArguments() keeps the original text of words, and rejects a duplicate key', async () => {
  await using at = await makeTestHost({})
  const { args, words } = await parseCallArguments(['n=1.0', 'yes=true'], at.host)
  assert.deepEqual(
    [args, words],
    [
      { n: '1.0', yes: true },
      { n: '1.0', yes: 'true' },
    ],
  )
  await assert.rejects(parseCallArguments(['a=1', 'b=1', 'a=2'], at.host), {
    kind: 'usage',
    message: 'Cannot use the arguments: a is given twice',
  })
})

test('parseCallArguments() rejects anything else', async () => {
  await assert.rejects(parseWords(['{"a": }']), {
    kind: 'usage',
    message: /not a JSON object/,
    hint: /key|path=/,
  })
  for (const words of [['notes.md'], ['=x'], ['a=1', '-'], ['{"a": 1}', 'b=2']]) {
    await assert.rejects(parseWords(words), {
      kind: 'usage',
      message: /^Cannot use word \d after the tool as an argument: it is not key=value$/,
      hint: /path=/,
    })
  }
})

async function parseWords(words: readonly string[], options: TestHostOptions = {}): Promise<JsonObject> {
  await using at = await makeTestHost(options)
  return (await parseCallArguments(words, at.host)).args
}
