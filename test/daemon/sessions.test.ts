import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { listArchives } from '../../src/daemon/handlers/sessions.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { nodeOptions, startTestDispatch, systemPrompt, type TestDispatch } from '../support/test-dispatch.ts'
import { toSentLines } from '../support/test-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }

test('new_session starts an empty conversation, which is listed once it has a message', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const session = await newSession(node)
  assert.deepEqual([session.active, session.messageCount, session.cwd], [true, 0, node.home.paths.home])
  assert.equal((await listIds(node)).length, 1)
  await node.ask('two')
  assert.deepEqual(toSentLines(node.server.requests[1]), ['user: two'])
  assert.deepEqual((await listIds(node))[0], session.id)
})

test('repeated new_session reuses the empty conversation, unless it is for another directory', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const { id } = await newSession(node)
  assert.equal((await newSession(node)).id, id)
  const other = await newSession(node, { cwd: '/usr' })
  assert.deepEqual([other.cwd, other.id === id], ['/usr', false])
  await node.ask('hi')
  assert.notEqual((await newSession(node, { cwd: '/usr' })).id, other.id)
})

test('new_session keeps an empty session that has a title', async () => {
  await using node = await startTestDispatch([])
  const { id } = await newSession(node)
  await request(node.dispatch, 'setTitle', { session: id, title: 'Plans' }, NEVER)
  assert.notEqual((await newSession(node)).id, id)
  assert.deepEqual(await listIds(node), [id])
})

test('new_session rejects a relative directory and an unknown agent', async () => {
  await using node = await startTestDispatch([])
  await assert.rejects(newSession(node, { cwd: 'here' }), { kind: 'invalid' })
  await assert.rejects(newSession(node, { agent: 'nobody' }), { kind: 'missing' })
})

test('activate_session makes a pair continue in a session', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const [first] = await listIds(node)
  await newSession(node)
  await node.ask('two')
  const info = await request(node.dispatch, 'activateSession', { session: first! }, NEVER)
  assert.deepEqual([info.id, info.active], [first, true])
  await node.ask('three')
  assert.deepEqual(toSentLines(node.server.requests[2]), ['user: one', 'assistant: yes', 'user: three'])
})

test('a session of a deleted agent cannot be continued or forked, even if another agent has its name', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const agent = (operation: 'createAgent' | 'deleteAgent') =>
    request(node.dispatch, operation, { name: 'critic', config: '', prompt: 'You judge.' }, NEVER)
  await agent('createAgent')
  await node.ask('one', { agent: 'critic' })
  const [session = ''] = await listIds(node)
  const refused = async (message: string) => {
    const hint = `crabtalk conversation show ${session} shows its messages`
    for (const operation of ['activateSession', 'forkSession'] as const) {
      await assert.rejects(request(node.dispatch, operation, { session }, NEVER), {
        kind: 'missing',
        message: `Cannot continue the conversation: its agent "critic" was deleted${message}`,
        hint,
      })
    }
    assert.deepEqual(await listIds(node), [session])
  }
  await agent('deleteAgent')
  await refused('')
  await agent('createAgent')
  await refused(', and today\'s "critic" is a different agent')
})

test('a session of a renamed agent continues under the current name, even when another agent has the old one', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const critic = { name: 'critic', config: '', prompt: 'You judge.' }
  await request(node.dispatch, 'createAgent', critic, NEVER)
  await node.ask('one', { agent: 'critic' })
  const [session = ''] = await listIds(node)
  await request(node.dispatch, 'renameAgent', { oldName: 'critic', newName: 'judge' }, NEVER)
  const names = async () => {
    const active = await request(node.dispatch, 'activateSession', { session }, NEVER)
    return [active.id === session, active.agent]
  }
  assert.deepEqual(await names(), [true, 'judge'])
  await request(node.dispatch, 'createAgent', critic, NEVER)
  assert.deepEqual(await names(), [true, 'judge'])
  const fork = await request(node.dispatch, 'forkSession', { session, upto: 0 }, NEVER)
  assert.equal(fork.agent, 'judge')
})

test('the last action of a pair decides where it continues, even within one millisecond', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const act = fc.oneof(fc.constant('new' as const), fc.constant('fork' as const), fc.nat(5))
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 8 }), async (acts) => {
      const ids = await listIds(node)
      for (const what of acts) {
        const session = ids[typeof what === 'number' ? what % ids.length : 0]!
        const info =
          what === 'new'
            ? await newSession(node)
            : what === 'fork'
              ? await request(node.dispatch, 'forkSession', { session, upto: 0 }, NEVER)
              : await request(node.dispatch, 'activateSession', { session }, NEVER)
        assert.equal(info.active, true)
        assert.equal((await request(node.dispatch, 'getSession', PAIR, NEVER)).id, info.id)
        if (what !== 'new') ids.push(info.id)
      }
    }),
    { numRuns: propertyRuns(50, 10) },
  )
})

test('set_title names a session on one line, even while its turn runs, and an empty title removes it', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['a', 'b'] }))
  let session = ''
  const title = async (text: string) =>
    (await request(node.dispatch, 'setTitle', { session, title: text }, NEVER)).title
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'hi' }, NEVER)) {
    if (event?.$case === 'start') session = event.value.sessionId
    if (event?.$case === 'textStart')
      assert.equal(await title(' Crabs \n\u001b[31m and more '), 'Crabs and more')
  }
  const info = await request(node.dispatch, 'getSession', { session }, NEVER)
  assert.deepEqual([info.title, info.messageCount], ['Crabs and more', 2])
  assert.equal(await title(''), '')
  assert.equal([...(await title('🦀'.repeat(300)))].length, 100)
})

test('a session whose turn runs in another process cannot be changed', async () => {
  await using node = await startTestDispatch([{ parts: ['a'], end: 'hang' }])
  await using other = compose(nodeOptions(node.home))
  const dispatch = route(handlers(other, 'process'))
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'hi' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    const [session] = await listIds(node)
    const refused = request(dispatch, 'setTitle', { session: session!, title: 'x' }, NEVER)
    await assert.rejects(refused, { kind: 'conflict', message: /another process/ })
    break
  }
})

test('generate_title returns what the model of the agent suggests, and stores nothing', async () => {
  const summary = '# "Counting crabs."\n\nIt is about crabs.'
  await using node = await startTestDispatch((asked) => ({
    parts: [systemPrompt(asked.json).startsWith('You give a conversation') ? summary : 'yes'],
    usage: { input: 3, output: 2 },
  }))
  const { id: session } = await newSession(node)
  const propose = () => request(node.dispatch, 'generateTitle', { session }, NEVER)
  await assert.rejects(propose(), { kind: 'invalid', message: /it has no messages/ })
  await node.ask('count crabs')
  const { title, model, usage } = await propose()
  assert.deepEqual([title, model, usage?.promptTokens], ['Counting crabs', 'scripted', 3])
  assert.equal('tools' in node.server.requests[1]!.json, false)
  assert.match(toSentLines(node.server.requests[1])[0]!, /\[user\]\ncount crabs\n\n\[assistant\]\nyes/)
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).title, '')
})

test('get_session without an id returns the active one of a pair', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await assert.rejects(request(node.dispatch, 'getSession', PAIR, NEVER), { kind: 'missing' })
  await node.ask('hi')
  assert.equal((await request(node.dispatch, 'getSession', PAIR, NEVER)).id, (await listIds(node))[0])
})

test('fork_session up to the line before a user message goes back to before that message', async () => {
  const call = { call: 'a', name: 'read', args: '{"path":"none"}' }
  await using node = await startTestDispatch((_, index) => ({ parts: index === 1 ? [call] : ['yes'] }))
  await node.ask('one')
  await node.ask('two')
  const [session] = await listIds(node)
  const { messages } = await request(node.dispatch, 'listMessages', { session: session! }, NEVER)
  const second = messages.find(({ content }) => content === 'two')!
  await request(node.dispatch, 'forkSession', { session: session!, upto: second.seq - 1 }, NEVER)
  await node.ask('instead')
  assert.deepEqual(toSentLines(node.server.requests.at(-1)), ['user: one', 'assistant: yes', 'user: instead'])
})

test('new_session deletes an unused one for another directory', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  for (const cwd of ['/usr', '/tmp', '/usr']) await newSession(node, { cwd })
  assert.equal((await readdir(node.home.paths.sessions)).length, 2)
  await node.ask('two')
  await newSession(node, { cwd: '/tmp' })
  assert.equal((await readdir(node.home.paths.sessions)).length, 3)
  assert.equal((await listIds(node)).length, 2)
})

test('new_session keeps an unused one while another process starts a turn in it', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const { id } = await newSession(node)
  const other = await node.services.stores.leases.take(`turn:${id}`, NEVER)
  assert.notEqual((await newSession(node, { cwd: '/usr' })).id, id)
  assert.equal((await readdir(node.home.paths.sessions)).length, 2)
  await other[Symbol.asyncDispose]()
})

test('new_session keeps an unused one that receives a message at that moment', async () => {
  await using node = await startTestDispatch([])
  const { storage, leases } = node.services.stores
  const { id } = await newSession(node)
  const other = await leases.take(`turn:${id}`, NEVER)
  const beginning = newSession(node, { cwd: '/usr' })
  await until('the new one is there', async () => (await readdir(node.home.paths.sessions)).length === 2)
  const { cursor } = await storage.read(id)
  await storage.append(id, cursor, [{ kind: 'entry', role: 'user', content: 'hi' }])
  await other[Symbol.asyncDispose]()
  await beginning
  assert.deepEqual(await listIds(node), [id])
})

test('list_archives of an agent does not read sessions without archives', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['They count. More'] }))
  const read: string[] = []
  const { storage } = node.services.stores
  const watched: typeof storage = Object.create(storage, {
    read: {
      value: (id: string) => {
        read.push(id)
        return storage.read(id)
      },
    },
    listSessions: { value: (filter: object) => storage.listSessions(filter) },
  })
  await node.ask('one')
  await newSession(node)
  await node.ask('two')
  const { id } = await request(node.dispatch, 'getSession', PAIR, NEVER)
  await request(node.dispatch, 'compact', PAIR, NEVER)
  const stores = { ...node.services.stores, storage: watched }
  const { archives } = await listArchives({ ...node.services, stores }, { session: '', agent: 'crab' })
  assert.deepEqual(
    archives.map(({ session }) => session),
    [id],
  )
  assert.deepEqual(read, [id])
})

for (const operation of ['activateSession', 'setTitle', 'generateTitle'] as const) {
  test(`${operation} rejects an invalid session id, and reports an unknown one`, async () => {
    await using node = await startTestDispatch([])
    for (const [session, kind] of [
      ['../x', 'invalid'],
      ['', 'invalid'],
      ['0123456789abcdef-01ARZ3NDEKTSV4RRFFQ69G5FAV', 'missing'],
    ]) {
      await assert.rejects(request(node.dispatch, operation, { session: session! }, NEVER), { kind: kind! })
    }
  })
}

function newSession({ dispatch }: TestDispatch, more: object = {}) {
  return request(dispatch, 'newSession', { ...PAIR, ...more }, NEVER)
}

async function listIds({ dispatch }: TestDispatch): Promise<string[]> {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  return conversations.map(({ filePath }) => filePath)
}
