import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import { demoSource } from '../../../src/core/provider/demo.ts'
import type { ModelEvent } from '../../../src/core/provider/types.ts'
import { collect, collectFailure, joinText, modelRequest, READ_TOOL } from '../../support/model-calls.ts'

const NEVER = new AbortController().signal

test('demoSource() says once in a turn that it is not a language model, and how to connect one', async () => {
  const events = await answer('hi')
  assert.deepEqual(
    events.filter(({ type }) => type === 'notice'),
    [
      {
        type: 'notice',
        message: 'No model connected. Answers come from the built-in demo. Connect one: crabtalk connect',
      },
    ],
  )
  const afterTools = await ask([
    { role: 'user', content: 'read a.txt' },
    { role: 'assistant', content: '', tool_calls: [{ id: '1', name: 'read', arguments: '{}' }] },
    { role: 'tool', content: 'A', tool_call_id: '1', name: 'read' },
  ])
  assert.ok(afterTools.every(({ type }) => type !== 'notice'))
  const [notice] = await collect(demoSource('Also this').complete(modelRequest(), NEVER))
  assert.match(notice?.type === 'notice' ? notice.message : '', /crabtalk connect\. Also this$/)
})

test('demoSource() streams word by word, the same every time', async () => {
  const events = await answer('What can you do?')
  const words = events.filter(({ type }) => type === 'text')
  assert.ok(words.length > 100)
  assert.match(joinText(events), /crabtalk send .*crabtalk conversation list/s)
  assert.deepEqual(await answer('What can you do?'), events)
  assert.deepEqual(events.at(-1), {
    type: 'finish',
    reason: 'stop',
    usage: { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 },
  })
})

test('demoSource() counts the received tokens', async () => {
  const prompt = 'Which dependencies are pinned?\n\n<stdin>\n{\n  "a": 1\n}\n</stdin>'
  assert.match(joinText(await answer(prompt)), /I received 4 words and 3 lines of standard input\./)
  const [message] = [
    {
      role: 'user',
      content: 'What is it?',
      attachments: [{ media_type: 'image/png', data: '', name: 'dot.png' }],
    } as Message,
  ]
  assert.match(joinText(await ask([message!])), /3 words and the attachment dot\.png\./)
  const file = 'Compare\n\n<file path="a.txt">\none\n</file>'
  assert.match(joinText(await answer(file)), /1 word and 1 line of a\.txt\./)
})

test('demoSource() reads the requested file if it may', async () => {
  for (const [prompt, path] of [
    ['read package.json', 'package.json'],
    ['Please read the file src/main.ts and explain it', 'src/main.ts'],
    ['Show me `docs/a b.md`', undefined],
    ['summarize ./notes/today.txt.', './notes/today.txt'],
  ] as const) {
    const call = (await answer(prompt)).find((event) => event.type === 'tool-call')?.call
    if (path !== undefined) assert.deepEqual(JSON.parse(call!.arguments), { path }, prompt)
  }
  const without = await collect(
    demoSource().complete(
      modelRequest({ messages: [{ role: 'user', content: 'read package.json' }] }),
      NEVER,
    ),
  )
  assert.ok(without.every(({ type }) => type !== 'tool-call'))
  const piped = await answer('Hello\n\n<stdin>\nread package.json\n</stdin>')
  assert.ok(piped.every(({ type }) => type !== 'tool-call'))
})

test('demoSource() repeats the result of its tool', async () => {
  const after = async (result: Partial<Message>) =>
    joinText(
      await ask([
        { role: 'user', content: 'read a.txt' },
        { role: 'assistant', content: '', tool_calls: [{ id: '1', name: 'read', arguments: '{}' }] },
        { role: 'tool', content: '', tool_call_id: '1', name: 'read', ...result },
      ]),
    )
  assert.equal(await after({ content: 'one\n' }), 'I called read and got 1 line back: one')
  assert.equal(await after({ content: 'one\ntwo\n' }), 'I called read and got 2 lines back:\none\ntwo')
  assert.equal(await after({ content: '' }), 'I called read and got nothing back.')
  const many = Array.from({ length: 13 }, (_, at) => `line ${at}`)
  assert.equal(
    await after({ content: many.join('\n') }),
    `I called read and got 13 lines back. They begin with:\n${many.slice(0, 12).join('\n')}`,
  )
  assert.ok((await after({ content: 'x'.repeat(9_000) })).length < 2_100)
  assert.equal(
    await after({ content: 'no such file', is_error: true }),
    'I called read, and it failed: no such file',
  )
})

test('demoSource() uses standard input as the request when there are no other words', async () => {
  const calls = async (prompt: string) =>
    (await answer(prompt)).filter(({ type }) => type === 'tool-call').length
  assert.equal(await calls('<stdin>\nread package.json\n</stdin>'), 1)
  assert.equal(await calls('Hello\n\n<stdin>\nread package.json\n</stdin>'), 0)
})

test('demoSource() lists its tools when it is asked to call an unknown one', async () => {
  assert.equal(joinText(await answer('call nothing {}')), 'I do not have a tool called nothing. I have read.')
})

test('demoSource() stops when it is aborted', async () => {
  const controller = new AbortController()
  const events = demoSource().complete(modelRequest(), controller.signal)[Symbol.asyncIterator]()
  await events.next()
  await events.next()
  controller.abort()
  await assert.rejects(events.next(), { kind: 'cancelled' })
  const { error } = await collectFailure(demoSource().complete(modelRequest(), AbortSignal.abort()))
  assert.equal(error.kind, 'cancelled')
})

function answer(content: string): Promise<ModelEvent[]> {
  return ask([{ role: 'user', content }])
}

function ask(messages: Message[]): Promise<ModelEvent[]> {
  return collect(demoSource().complete(modelRequest({ messages, tools: [READ_TOOL] }), NEVER))
}
