import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildReviewTask } from '../../../src/core/base/task-texts.ts'
import { wrapShellLine } from '../../../src/core/base/typed-message.ts'
import { SessionMessage } from '../../../src/core/protocol/crabtalk.generated.ts'
import { toBlocks } from '../../../src/tui/state/history-blocks.ts'

const user = (content: string) => SessionMessage.create({ role: 'user', content })
const answer = (content: string, ...ids: string[]) =>
  SessionMessage.create({
    role: 'assistant',
    content,
    toolCalls: ids.map((callId) => ({ callId, name: 'read', arguments: '{"path":"a"}', server: '' })),
  })
const result = (toolCallId: string, content: string, isError = false) =>
  SessionMessage.create({ role: 'tool', toolCallId, content, isError })

test('toBlocks() matches every call with its own result, even if other messages reuse its id', () => {
  const messages = [
    user('one'),
    answer('', 'c1'),
    result('c1', 'first'),
    answer('', 'c1'),
    result('c1', 'second', true),
  ]
  const tools = toBlocks(messages).flatMap((block) => (block.kind === 'tool' ? [block.tool] : []))
  assert.deepEqual(
    tools.map(({ output, state }) => [output, state]),
    [
      ['first', 'done'],
      ['second', 'failed'],
    ],
  )
})

test('toBlocks() marks a call without a result as interrupted', () => {
  const [tool] = toBlocks([answer('Looking.', 'c1', 'c2'), result('c2', 'found')]).slice(1)
  assert.ok(tool?.kind === 'tool' && tool.tool.state === 'failed' && tool.tool.output === 'Interrupted')
})

test('toBlocks() keeps the order of messages', () => {
  const messages = [user('hello'), answer('Hi.'), user('again'), answer('Yes?', 'c1'), result('c1', 'x')]
  assert.deepEqual(
    toBlocks(messages).map(({ kind }) => kind),
    ['user', 'answer', 'user', 'answer', 'tool'],
  )
})

test('toBlocks() distinguishes a denied call from a failed one', () => {
  const words = 'Not permitted: bash: rm -rf build: the user said no'
  const [tool] = toBlocks([answer('', 'c1'), result('c1', words, true)])
  assert.equal(tool?.kind === 'tool' && tool.tool.state, 'denied')
})

test('toBlocks() distinguishes a call that never ran, also of an earlier version, from a failed one', () => {
  for (const words of ['Not run: the turn was cancelled first.', 'Not run: the turn was cancelled before.']) {
    const [tool] = toBlocks([answer('', 'c1'), result('c1', words, true)])
    assert.equal(tool?.kind === 'tool' && tool.tool.state, 'skipped')
  }
})

test('toBlocks() shows shell lines and commands as the chat did when they were sent', () => {
  const output = Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n')
  const shell = wrapShellLine({ line: 'make', exitCode: 2, output })
  const [title, printed, message, review] = toBlocks([
    user(`${shell}\n\nwhy?`),
    user(buildReviewTask('working-tree')),
  ])
  assert.deepEqual(title, { kind: 'output', title: '$ make' })
  assert.ok(printed?.kind === 'output' && printed.title === 'exit 2')
  assert.match(printed.text ?? '', /line 29\n… 10 more lines\nline 40/)
  assert.deepEqual(message, { kind: 'user', text: 'why?', how: 'sent', files: [] })
  assert.ok(review?.kind === 'user' && review.text === '/review')
})
