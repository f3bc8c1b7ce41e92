import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClientMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { findEvent, startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const HI = { agent: 'crab', sender: 'ann', content: 'hi' }

test('stream yields a turn in the order of the wire, each event once', async () => {
  await using node = await startTestDispatch([
    {
      parts: ['Looking.', { call: 'a', name: 'read', args: '{"path":"none"}' }],
      usage: { input: 5, output: 2 },
    },
    { parts: ['It is not there.'] },
  ])
  const events = await node.ask('read it')
  assert.deepEqual(
    events.map(({ $case }) => $case),
    [
      ...[
        'start',
        'textStart',
        'chunk',
        'textEnd',
        'toolStart',
        'toolResult',
        'toolsComplete',
        'contextUsage',
      ],
      ...['textStart', 'chunk', 'textEnd', 'end'],
    ],
  )
  const { callId, isError, output } = findEvent(events, 'toolResult').value
  assert.deepEqual([callId, isError, output], ['a', true, 'Cannot read none: the file does not exist'])
  const { turns, error, detail } = findEvent(events, 'end').value
  assert.deepEqual([turns, error, detail?.kind, detail?.stopReason], [2, '', '', 'stop'])
})

test('stream ends with the error of a turn that started', async () => {
  await using node = await startTestDispatch([{ status: 401, body: { error: { message: 'no such key' } } }])
  const end = findEvent(await node.ask('hi'), 'end').value
  assert.match(end.error, /no such key \(401\)/)
  assert.deepEqual([end.detail?.kind, end.detail?.retryable], ['credentials', false])
  assert.match(end.detail?.hint ?? '', /config\.toml:\d/)
})

test('stream answers a turn that cannot start with an error and its hint', async () => {
  await using node = await startTestDispatch([])
  const failures: [object, string][] = [
    [{ agent: 'nobody' }, 'missing'],
    [{ content: '' }, 'invalid'],
    [{ cwd: 'here' }, 'invalid'],
    [{ cwd: '/not/here' }, 'invalid'],
    [{ cwd: import.meta.filename }, 'invalid'],
    [{ options: { schema: '[]' } }, 'invalid'],
    [{ options: { maxCost: 1 } }, 'config'],
  ]
  for (const [more, kind] of failures) {
    await assert.rejects(Array.fromAsync(streamTurn(node.dispatch, { ...HI, ...more }, NEVER)), { kind })
  }
  assert.deepEqual((await request(node.dispatch, 'listConversations', {}, NEVER)).conversations, [])
  const reply = await firstReply(
    node,
    ClientMessage.create({ msg: { $case: 'stream', value: { ...HI, agent: 'x' } } }),
  )
  assert.ok(reply?.$case === 'error')
  assert.deepEqual([reply.value.code, reply.value.detail?.kind], [404, 'missing'])
  assert.match(reply.value.detail?.hint ?? '', /agent list/)
})

test('stream uses the options that a client sends for one turn', async () => {
  await using node = await startTestDispatch([{ parts: ['yes'] }])
  await node.ask('hi', { options: { model: 'other', system: 'Be terse.', tools: 1, retries: 0 } })
  const { json } = node.server.requests[0]!
  assert.equal(json['model'], 'other')
  assert.equal('tools' in json, false)
  assert.match(node.server.requests[0]!.text, /"Be terse\.\\n\\n<environment>/)
})

test('a turn without a watching client is unattended, whatever its sender', async () => {
  await using node = await startTestDispatch([{ parts: ['yes'] }])
  const options = { unattended: true }
  const { home } = node.home.paths
  for (const more of [{ cwd: home, options }, { options: { ...options, env: { A: 'b' } } }]) {
    await assert.rejects(Array.fromAsync(streamTurn(node.dispatch, { ...HI, ...more }, NEVER)), {
      kind: 'denied',
    })
  }
  await node.ask('hi', { options })
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  assert.deepEqual(
    conversations.map(({ cwd }) => cwd),
    [join(home, 'workspace', 'crab', 'unattended')],
  )
})

test('send returns the whole answer, and how it ended', async () => {
  await using node = await startTestDispatch([
    {
      parts: ['Looking.', { call: 'a', name: 'read', args: '{"path":"x"}' }],
      usage: { input: 5, output: 2 },
    },
    { parts: ['It is', ' not there.'], usage: { input: 9, output: 3 } },
  ])
  const answer = await request(node.dispatch, 'send', HI, NEVER)
  const { runId, sessionId, usage, ...rest } = answer
  assert.deepEqual(rest, {
    agent: 'crab',
    model: 'scripted',
    turns: 2,
    stopReason: 'stop',
    content: 'Looking.\n\nIt is not there.',
  })
  assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [14, 5])
  assert.match(runId, /^\w{26}$/)
  assert.equal((await request(node.dispatch, 'getSession', { session: sessionId }, NEVER)).sender, 'ann')
})

test('send returns only the JSON that matches a schema', async () => {
  await using node = await startTestDispatch([{ parts: ['no'] }, { parts: ['{"n":1}'] }])
  const options = { schema: '{"type":"object","required":["n"]}' }
  assert.equal((await request(node.dispatch, 'send', { ...HI, options }, NEVER)).content, '{"n":1}')
})

test('send answers a failed turn with an error', async () => {
  await using node = await startTestDispatch([
    { parts: ['Half'], end: 'cut' },
    { status: 400, body: 'bad' },
  ])
  await assert.rejects(request(node.dispatch, 'send', { ...HI, options: { retries: 0 } }, NEVER), {
    kind: 'unavailable',
  })
  await assert.rejects(request(node.dispatch, 'send', HI, NEVER), { kind: 'invalid', message: /bad/ })
})

test('send and stream continue the conversation of a pair, and an old client is sender user with agent crab', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await request(node.dispatch, 'send', { content: 'one' }, NEVER)
  await node.ask('two', { agent: '', sender: 'user' })
  const texts = (node.server.requests[1]!.json['messages'] as { content: string }[]).map(
    ({ content }) => content,
  )
  assert.deepEqual(texts.slice(1), ['one', 'yes', 'two'])
})

test('a client that leaves cancels its turn and keeps its partial answer', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  for await (const { event } of streamTurn(node.dispatch, HI, NEVER)) if (event?.$case === 'chunk') break
  assert.equal(await node.server.requests[0]!.done, false)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const page = { session: conversations[0]!.filePath, offset: 0, limit: 0 }
  const { messages } = await request(node.dispatch, 'listMessages', page, NEVER)
  assert.deepEqual(
    messages.map(({ content, stopReason }) => [content, stopReason]),
    [
      ['hi', ''],
      ['Half', 'cancelled'],
    ],
  )
})

async function firstReply({ dispatch }: TestDispatch, message: ClientMessage) {
  for await (const { msg } of dispatch(message, NEVER)) return msg
  return undefined
}
