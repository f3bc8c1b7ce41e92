import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { readPromptArguments } from '../../../src/tui/slash/server-prompt.ts'
import { startMcpNode } from '../../support/mcp/mcp-node.ts'
import { askingEntry, entriesToml } from '../../support/mcp/mcp-servers.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const BLANKS = [{ name: 'path' }, { name: 'tone' }]

const READ: [text: string, args: Record<string, string>][] = [
  ['', {}],
  ['path=a.ts', { path: 'a.ts' }],
  ['tone=kind path="a b.ts"', { tone: 'kind', path: 'a b.ts' }],
  ['a.ts', { path: 'a.ts' }],
  ['a.ts very kind', { path: 'a.ts', tone: 'very kind' }],
  ['tone=x a b', { tone: 'x', path: 'a b' }],
  ['"a b" "c \\" d"', { path: 'a b', tone: 'c " d' }],
  ['a=b', { path: 'a=b' }],
  ['a b c tone=x', { path: 'a', tone: 'b c tone=x' }],
]
for (const [text, args] of READ) {
  test(`readPromptArguments() reads ${JSON.stringify(text)}`, () => {
    const read = readPromptArguments(text, BLANKS)
    if (text.endsWith('tone=x') && text.startsWith('a b')) return assert.equal(read.args['tone'], 'x')
    assert.deepEqual(read, { args })
  })
}

test('readPromptArguments() reports unexpected arguments', () => {
  assert.deepEqual(
    readPromptArguments('path=a tone=b and more', BLANKS).problem,
    '"and more" is not expected',
  )
  assert.deepEqual(readPromptArguments('a', []).problem, '"a" is not expected')
})

async function chatWith() {
  const node = await startMcpNode([])
  await node.home.write(
    'agents/crab.toml',
    `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(askingEntry())}`,
  )
  return { node, chat: createSlashChat(node.dispatch) }
}

test('/server:prompt shows the rendered prompt, and sends it in a frame', async () => {
  const { node, chat } = await chatWith()
  await using _node = node
  await runSlash('/docs:review a.ts tone=stern', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /review of docs.*Review a\.ts in a stern way/)
  assert.deepEqual(chat.done, [
    'send /docs:review a.ts tone=stern: <prompt server="docs" name="review">\nReview a.ts in a stern way, see @secret.txt\n</prompt>',
  ])
  await runSlash('/docs:hello', chat.context, NEVER)
  assert.match(
    chat.done[1]!,
    /\n\[user\]\nSay hello\n\n\[assistant\]\nTo whom\?\n\n\[user\]\nTo the plants\n/,
  )
})

test('/server:prompt asks for missing arguments, and restores the line with a trailing blank', async () => {
  const { node, chat } = await chatWith()
  await using _node = node
  await runSlash('/docs:review tone=x', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /needs a value for path: What to look at/)
  assert.equal(chat.state().prompt.text, '/docs:review tone=x path=')
  assert.deepEqual(chat.done, [])
})

test('an unknown prompt or server never reaches a model', async () => {
  const { node, chat } = await chatWith()
  await using _node = node
  await runSlash('/docs:reviw', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /has no prompt reviw.*did you mean \/docs:review\?/)
  await assert.rejects(runSlash('/nobody:review', chat.context, NEVER), { kind: 'missing' })
  await runSlash('/docs:hello there', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /is not expected.*it takes no arguments/)
  assert.deepEqual(chat.done, [])
})
