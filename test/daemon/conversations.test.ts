import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const CALL = { call: 'a', name: 'read', args: '{"path":"none"}' }

test('list_conversations is empty in a new home, and writes nothing', async () => {
  await using node = await startTestDispatch([])
  assert.deepEqual(await request(node.dispatch, 'listConversations', {}, NEVER), {
    conversations: [],
    total: 0,
  })
  assert.deepEqual(await request(node.dispatch, 'listConversations', { agent: 'crab' }, NEVER), {
    conversations: [],
    total: 0,
  })
  await assert.rejects(node.home.read('agents/crab.toml'), { code: 'ENOENT' })
})

test('list_conversations returns one row per conversation, newest first, and filters by exact bytes', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await request(node.dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  await node.ask('hi')
  await node.ask('hi', { sender: 'Ann' })
  await node.ask('hi', { agent: 'critic', cwd: '/usr' })
  const list = async (filter: { agent?: string; sender?: string }) => {
    const { conversations } = await request(node.dispatch, 'listConversations', filter, NEVER)
    return conversations.map(({ agent, sender }) => `${agent} ${sender}`)
  }
  assert.deepEqual(await list({}), ['critic ann', 'crab Ann', 'crab ann'])
  assert.deepEqual(await list({ agent: 'crab' }), ['crab Ann', 'crab ann'])
  assert.deepEqual(await list({ sender: 'ann' }), ['critic ann', 'crab ann'])
  assert.deepEqual(await list({ agent: 'critic', sender: 'Ann' }), [])
  await assert.rejects(list({ agent: 'nobody' }), { kind: 'missing' })
  const { conversations } = await request(node.dispatch, 'listConversations', { agent: 'critic' }, NEVER)
  const { seq, messageCount, cwd, aliveSecs, date, createdAt } = conversations[0]!
  assert.deepEqual([seq, messageCount, cwd, date], [1, 2, '/usr', createdAt.slice(0, 10)])
  assert.ok(aliveSecs >= 0 && aliveSecs < 3_600)
})

test('list_conversations returns pages that together are the list, filters by directory, and counts all', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  for (const [sender, cwd] of [
    ['a', '/usr'],
    ['b', '/tmp'],
    ['c', '/usr'],
    ['d', '/usr'],
  ] as const) {
    await node.ask('hi', { sender, cwd })
  }
  const list = async (filter: { cwd?: string; offset?: number; limit?: number }) => {
    const { conversations, total } = await request(node.dispatch, 'listConversations', filter, NEVER)
    return [conversations.map(({ sender, seq }) => `${seq}${sender}`).join(' '), total]
  }
  assert.deepEqual(await list({}), ['1d 2c 3b 4a', 4])
  assert.deepEqual(await list({ limit: 3 }), ['1d 2c 3b', 4])
  assert.deepEqual(await list({ offset: 3, limit: 3 }), ['4a', 4])
  assert.deepEqual(await list({ offset: 1 }), ['2c 3b 4a', 4])
  assert.deepEqual(await list({ offset: 9, limit: 1 }), ['', 4])
  assert.deepEqual(await list({ cwd: '/usr', offset: 1, limit: 1 }), ['2c', 3])
  assert.deepEqual(await list({ cwd: '/us' }), ['', 0])
})

test('conversations follow an agent that is renamed', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await request(node.dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  await node.ask('one', { agent: 'critic' })
  await request(node.dispatch, 'renameAgent', { oldName: 'critic', newName: 'judge' }, NEVER)
  await node.ask('two', { agent: 'judge' })
  const { conversations } = await request(node.dispatch, 'listConversations', { agent: 'judge' }, NEVER)
  assert.deepEqual(
    conversations.map(({ agent, messageCount }) => [agent, messageCount]),
    [['judge', 4]],
  )
})

test('get_session returns the facts of one conversation', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('hi', { cwd: '/usr' })
  const session = await onlySession(node)
  const { createdAt, updatedAt, agentId, ...info } = await request(
    node.dispatch,
    'getSession',
    { session },
    NEVER,
  )
  assert.deepEqual(info, {
    id: session,
    agent: 'crab',
    sender: 'ann',
    title: '',
    preview: 'hi',
    summary: '',
    cwd: '/usr',
    messageCount: 2,
    forkedFrom: '',
    active: true,
    model: '',
    effort: '',
  })
  assert.ok(createdAt <= updatedAt)
  assert.equal(agentId, (await request(node.dispatch, 'getAgent', { name: 'crab' }, NEVER)).id)
})

test('list_messages returns pages with everything that belongs to a message', async () => {
  const thinking = { thinking: 'Hm' }
  await using node = await startTestDispatch([{ parts: [thinking, 'Looking.', CALL] }, { parts: ['Gone.'] }])
  const attachments = [{ mediaType: 'image/png', data: new Uint8Array(5), name: 'a.png' }]
  await node.ask('read it', { options: { attachments } })
  const session = await onlySession(node)
  const page = async (offset: number, limit: number) => {
    const { messages, total } = await request(
      node.dispatch,
      'listMessages',
      { session, offset, limit },
      NEVER,
    )
    return [total, ...messages.map(({ role, content }) => `${role}: ${content}`)]
  }
  const all = [
    'user: read it',
    'assistant: Looking.',
    'tool: Cannot read none: the file does not exist',
    'assistant: Gone.',
  ]
  assert.deepEqual(await page(0, 0), [4, ...all])
  assert.deepEqual(await page(1, 2), [4, ...all.slice(1, 3)])
  assert.deepEqual(await page(3, 9), [4, ...all.slice(3)])
  assert.deepEqual(await page(9, 9), [4])
  const { messages } = await request(node.dispatch, 'listMessages', { session, offset: 0, limit: 0 }, NEVER)
  assert.deepEqual(messages[0]!.attachments, [{ mediaType: 'image/png', name: 'a.png', bytes: 5 }])
  assert.deepEqual(messages[1]!.reasoning, ['Hm'])
  assert.deepEqual(messages[1]!.toolCalls, [{ callId: 'a', name: 'read', arguments: CALL.args, server: '' }])
  const { toolCallId, name, isError } = messages[2]!
  assert.deepEqual([toolCallId, name, isError], ['a', 'read', true])
})

test('get_conversation_history returns roles and text', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const history = await request(
    node.dispatch,
    'getConversationHistory',
    { filePath: await onlySession(node) },
    NEVER,
  )
  assert.deepEqual(history, {
    agent: 'crab',
    title: '',
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'yes' },
    ],
  })
})

test('get_session and the history return the latest title and summary', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const session = await onlySession(node)
  const { storage } = node.services.stores
  const { cursor } = await storage.read(session)
  await storage.append(session, cursor, [
    { kind: 'meta', title: 'First', summary: 'They met.' },
    { kind: 'meta', title: 'Second' },
    { kind: 'meta', activated_at: '2026-01-01T00:00:00.000Z' },
  ])
  const { title, summary } = await request(node.dispatch, 'getSession', { session }, NEVER)
  assert.deepEqual([title, summary], ['Second', 'They met.'])
  const history = await request(node.dispatch, 'getConversationHistory', { filePath: session }, NEVER)
  assert.deepEqual([history.title, history.messages.length], ['Second', 2])
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  assert.deepEqual([conversations[0]?.title, conversations[0]?.messageCount], ['Second', 2])
})

test('list_messages marks guests and incomplete answers', async () => {
  await using node = await startTestDispatch([{ parts: ['I think'] }, { parts: ['Half'], end: 'cut' }])
  await request(node.dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  await node.ask('hi', { guest: 'critic' })
  await node.ask('hi', { options: { retries: 0 } })
  const page = { session: await onlySession(node), offset: 0, limit: 0 }
  const { messages } = await request(node.dispatch, 'listMessages', page, NEVER)
  assert.deepEqual(
    messages.map(({ agent, stopReason, isError }) => [agent, stopReason, isError]),
    [
      ['', '', false],
      ['critic', '', false],
      ['', '', false],
      ['', 'failed', false],
    ],
  )
})

test('get_session counts messages, not tool results', async () => {
  await using node = await startTestDispatch([{ parts: [CALL] }, { parts: ['Gone.'] }])
  await node.ask('read it')
  const session = await onlySession(node)
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).messageCount, 3)
})

test('fork_session makes a copy that continues in place of the original', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const session = await onlySession(node)
  const fork = await request(node.dispatch, 'forkSession', { session, upto: 0 }, NEVER)
  assert.deepEqual([fork.forkedFrom, fork.active, fork.messageCount], [session, true, 2])
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).active, false)
  await node.ask('two')
  const count = async (id: string) =>
    (await request(node.dispatch, 'getSession', { session: id }, NEVER)).messageCount
  assert.deepEqual([await count(session), await count(fork.id)], [2, 4])
})

test('delete_conversation deletes permanently, and the previous conversation becomes active', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const session = await onlySession(node)
  const { id } = await request(node.dispatch, 'forkSession', { session, upto: 0 }, NEVER)
  assert.deepEqual(await request(node.dispatch, 'deleteConversation', { filePath: id }, NEVER), {})
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).active, true)
  await assert.rejects(request(node.dispatch, 'deleteConversation', { filePath: id }, NEVER), {
    kind: 'missing',
  })
})

for (const id of ['', '..', '../config.toml', '/etc/passwd', 'a/b', 'x\0y', '.']) {
  test(`every operation on a session rejects the id ${JSON.stringify(id)}`, async () => {
    await using node = await startTestDispatch([])
    const { dispatch } = node
    const invalid = { name: 'CrabError', kind: 'invalid' }
    await assert.rejects(request(dispatch, 'getSession', { session: id }, NEVER), invalid)
    await assert.rejects(request(dispatch, 'listMessages', { session: id }, NEVER), invalid)
    await assert.rejects(request(dispatch, 'forkSession', { session: id }, NEVER), invalid)
    await assert.rejects(request(dispatch, 'getConversationHistory', { filePath: id }, NEVER), invalid)
    await assert.rejects(request(dispatch, 'deleteConversation', { filePath: id }, NEVER), invalid)
  })
}

test('every operation on a session reports an unknown well-formed id', async () => {
  await using node = await startTestDispatch([])
  const session = '0123456789abcdef-01ARZ3NDEKTSV4RRFFQ69G5FAV'
  for (const operation of ['getSession', 'listMessages', 'forkSession'] as const) {
    await assert.rejects(request(node.dispatch, operation, { session }, NEVER), { kind: 'missing' })
  }
})

async function onlySession({ dispatch }: TestDispatch): Promise<string> {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  assert.equal(conversations.length, 1)
  return conversations[0]!.filePath
}

test('list_conversations includes those of an agent whose file is invalid', async () => {
  await using node = await startTestDispatch([{ parts: ['said'] }])
  await request(node.dispatch, 'createAgent', { name: 'broken' }, NEVER)
  await node.ask('hi', { agent: 'broken' })
  await node.home.write('agents/broken.toml', `${await node.home.read('agents/broken.toml')}model = 3\n`)
  const { conversations } = await request(node.dispatch, 'listConversations', { agent: 'broken' }, NEVER)
  assert.deepEqual(
    conversations.map(({ agent }) => agent),
    ['broken'],
  )
})
