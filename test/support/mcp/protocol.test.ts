import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { UNKNOWN_ID } from './answers.ts'
import { ASKS } from './asks.ts'
import { misbehavingEntry, watchedServer } from './mcp-servers.ts'
import type { Message } from './message.ts'
import { startRaw } from './raw-client.ts'

const MODERN = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }

test('a good server accepts the requested version', async () => {
  await using server = startRaw(misbehavingEntry())
  const { result } = await server.initialize()
  assert.equal(result!['protocolVersion'], '2025-06-18')
  assert.deepEqual(result!['capabilities'], { tools: { listChanged: true } })
})

test('--protocol and --capabilities change what the server claims', async () => {
  const capabilities = { tools: {}, prompts: {} }
  await using server = startRaw(misbehavingEntry({ protocol: '1999-12-31', capabilities }))
  const { result } = await server.initialize()
  assert.equal(result!['protocolVersion'], '1999-12-31')
  assert.deepEqual(result!['capabilities'], capabilities)
})

test('--answers=twice sends every answer twice', async () => {
  assert.deepEqual(await idsWith('twice'), [1, 1, 2, 2])
})

test('--answers=unknown sends an unrequested answer before each', async () => {
  assert.deepEqual(await idsWith('unknown'), [UNKNOWN_ID, 1, UNKNOWN_ID, 2])
})

test('--answers=text-id and null-id change the id', async () => {
  assert.deepEqual(await idsWith('text-id'), ['1', '2'])
  assert.deepEqual(await idsWith('null-id'), [null, null])
})

test('--answers=late answers a cancelled request; a good server does not', async () => {
  for (const answers of [[], ['late']] as const) {
    await using server = startRaw(misbehavingEntry({ answers }))
    await server.initialize()
    server.say({ id: 'slow', method: 'tools/call', params: { name: 'sleep', arguments: { ms: 60_000 } } })
    server.say({ method: 'notifications/cancelled', params: { requestId: 'slow' } })
    for (let time = 0; time < 5; time++) await server.request('ping')
    const late = server.messages().filter(({ id }) => id === 'slow')
    assert.equal(late.length, answers.length)
  }
})

test('sleep reports progress only when it is requested', async () => {
  await using server = startRaw(misbehavingEntry())
  await server.initialize()
  await server.call('sleep', { ms: 3, steps: 3 })
  assert.deepEqual(
    server.messages().filter(({ method }) => method !== undefined),
    [],
  )
  await server.request('tools/call', {
    name: 'sleep',
    arguments: { ms: 3, steps: 3 },
    _meta: { progressToken: 'token' },
  })
  assert.deepEqual(
    server.messages().flatMap(({ method, params }) => (method === 'notifications/progress' ? [params] : [])),
    [1, 2, 3].map((progress) => ({
      progressToken: 'token',
      progress,
      total: 3,
      message: `${progress} of 3`,
    })),
  )
})

test('--ask asks the client once it is initialized', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const watched = watchedServer(folder.path, { ask: Object.keys(ASKS) })
  await using server = startRaw(watched.entry)
  await server.initialize()
  for (const [method, params] of Object.entries(ASKS)) {
    const question = await server.hears(method, (message) => message.method === method)
    assert.deepEqual(question.params, params)
    server.say({ id: question.id!, result: { to: method } })
  }
  await server.request('ping')
  assert.deepEqual(
    watched.messages().flatMap(({ result }) => (result ? [result] : [])),
    Object.keys(ASKS).map((method) => ({ to: method })),
  )
})

test('the ask tool returns the answer of the client, in both eras', async () => {
  await using server = startRaw(misbehavingEntry({ era: 'both' }))
  const answer = { action: 'accept', content: { colour: 'blue' } }
  const call = server.call('ask', { method: 'elicitation/create' })
  const question = await server.hears('a question', ({ method }) => method === 'elicitation/create')
  server.say({ id: question.id!, result: answer })
  assert.deepEqual(JSON.parse(textOf(await call)), answer)

  const params = { name: 'ask', arguments: { method: 'elicitation/create' }, ...MODERN }
  const { result } = await server.request('tools/call', params)
  assert.deepEqual(result, {
    resultType: 'input_required',
    inputRequests: { question: { method: 'elicitation/create', params: ASKS['elicitation/create'] } },
    requestState: 'asked',
  })
  const inputResponses = { question: answer }
  const again = await server.request('tools/call', { ...params, inputResponses, requestState: 'asked' })
  assert.deepEqual(JSON.parse(textOf(again)), answer)
})

test('the modern server stamps its results, and its changes for subscribers', async () => {
  await using server = startRaw(misbehavingEntry({ era: 'modern', tools: ['few', 'good'] }))
  const { result } = await server.request('server/discover', MODERN)
  assert.deepEqual(result!['supportedVersions'], ['2026-07-28'])
  const list = await server.request('tools/list', MODERN)
  assert.deepEqual(
    [list.result!['resultType'], list.result!['ttlMs'], list.result!['cacheScope']],
    ['complete', 0, 'private'],
  )
  const change = (name: string) =>
    server.request('tools/call', { name: 'change', arguments: { add: [name] }, ...MODERN })
  assert.equal((await change('unheard')).result!['resultType'], 'complete')
  server.say({
    id: 'ears',
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, ...MODERN },
  })
  await change('heard')
  const notifications = server.messages().filter(({ method }) => method?.startsWith('notifications/'))
  assert.deepEqual(
    notifications.map(({ method }) => method),
    ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'],
  )
  for (const { params } of notifications)
    assert.deepEqual(params!['_meta'], { 'io.modelcontextprotocol/subscriptionId': 'ears' })
})

/** Returns the ids of the answers to the requests 1 and 2. */
async function idsWith(fault: 'twice' | 'unknown' | 'text-id' | 'null-id'): Promise<unknown[]> {
  await using server = startRaw(misbehavingEntry({ answers: [fault] }))
  for (const id of [1, 2]) server.say({ id, method: 'ping' })
  server.child.stdin.end()
  await server.closed
  return server.messages().map(({ id }) => id)
}

function textOf({ result }: Message): string {
  return (result!['content'] as { text: string }[])[0]!.text
}
