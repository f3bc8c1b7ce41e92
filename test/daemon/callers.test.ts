import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { toCrabError } from '../../src/core/base/errors.ts'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import { OnAsk } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import type { Operation } from '../../src/core/protocol/operations.ts'
import { CALLERS, type Callers } from '../../src/daemon/handlers/callers.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const OWN = { agent: 'crab', sender: 'tg:1' }
const PERSON = { agent: 'crab', sender: 'ann' }

test('CALLERS allows a TCP client its own resources, and no operation that lists, writes or follows others', () => {
  const open = (of: Callers) => (Object.keys(CALLERS) as Operation[]).filter((name) => CALLERS[name] === of)
  assert.deepEqual(open('any'), ['ping', 'auth', 'hello'])
  assert.deepEqual(open('own').toSorted(), [
    ...['attach', 'compact', 'generateTitle', 'getConversationHistory', 'getSession', 'kill', 'listAsks'],
    ...['listMessages', 'newSession', 'replyToAsk', 'searchSessions', 'send', 'steerSession', 'stream'],
    'waitRun',
  ])
})

test('a TCP client is refused what it does not own, by name, and changes nothing', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one', PERSON)
  const before = await snapshot(node)
  const { filePath: session } = (await request(node.dispatch, 'listConversations', {}, NEVER))
    .conversations[0]!
  const body = { ...PERSON, session, name: 'crab', title: 'x', model: 'other', filePath: session }
  const client = overTcp(node)
  for (const operation of (Object.keys(CALLERS) as Operation[]).filter((one) => CALLERS[one] === 'local')) {
    if (operation === 'extension') continue
    const message = /^Cannot serve [a-z_]+: a TCP client may only use its own conversations$/
    await assert.rejects(
      request(client, operation as 'setTitle', body, NEVER),
      { kind: 'denied', message },
      operation,
    )
  }
  assert.deepEqual(await snapshot(node), before)
})

test('a TCP client is refused other pairs, schedules and events, with a hint', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const client = overTcp(node)
  const operations = [
    'send',
    'steerSession',
    'kill',
    'compact',
    'newSession',
    'searchSessions',
    'getSession',
    'replyToAsk',
  ]
  for (const sender of ['sh:1', 'event:x', 'delegate:1']) {
    const pair = { agent: 'crab', sender, content: 'x', query: 'x' }
    const readRefusal = {
      kind: 'denied',
      message: /: a TCP client may not use the sender "/,
      hint: /^leave out the sender, or start it with "tcp:"/,
    }
    for (const operation of operations) {
      await assert.rejects(
        request(client, operation as 'send', pair, NEVER),
        readRefusal,
        `${operation} ${sender}`,
      )
    }
    await assert.rejects(Array.fromAsync(streamTurn(client, pair, NEVER)), readRefusal)
    await assert.rejects(requestMany(client, 'attach', pair, NEVER).next(), readRefusal)
  }
  assert.equal(node.server.requests.length, 0)
})

test('sessions, runs and questions of others do not exist for a TCP client', async () => {
  const question = { question: 'Which?', header: 'Q', options: [{ label: 'a' }, { label: 'b' }] }
  const args = JSON.stringify({ questions: [question] })
  await using node = await startTestDispatch([
    { parts: ['yes'] },
    { parts: [{ call: 'c', name: 'ask_user', args }] },
    { parts: ['so'] },
  ])
  const client = overTcp(node)
  await request(client, 'send', { ...OWN, content: 'hi' }, NEVER)
  const message = { ...PERSON, content: 'go', options: { onAsk: OnAsk.CLIENT } }
  for await (const { event } of streamTurn(node.dispatch, message, NEVER)) {
    if (event?.$case !== 'askUser') continue
    const [run] = node.services.live.running()
    const { askId } = event.value
    const { id: session } = await request(node.dispatch, 'getSession', PERSON, NEVER)
    const places: [Operation, string, string][] = [
      ['getSession', 'session', session],
      ['listMessages', 'session', session],
      ['generateTitle', 'session', session],
      ['getConversationHistory', 'filePath', session],
      ['waitRun', 'runId', run!.id],
      ['replyToAsk', 'askId', askId],
    ]
    for (const [operation, field, id] of places) {
      const other = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
      const [known, unknown] = await Promise.all(
        [id, other].map((one) => readRefusal(client, operation, { ...OWN, [field]: one })),
      )
      assert.deepEqual(known, { ...unknown, message: unknown!.message.replace(other, id) }, operation)
      assert.equal(known!.kind, 'missing')
    }
    assert.deepEqual((await request(client, 'listAsks', {}, NEVER)).asks, [])
    await request(node.dispatch, 'replyToAsk', { ...PERSON, askId, content: '{"Which?":"a"}' }, NEVER)
  }
  assert.match(node.server.requests.at(-1)!.text, /Which\?[^}]*a/)
})

test('a TCP client starts, reads and stops its own conversations', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  const client = overTcp(node)
  for await (const { event } of streamTurn(client, { ...OWN, content: 'go' }, NEVER)) {
    if (event?.$case === 'chunk') await request(client, 'kill', OWN, NEVER)
  }
  const { id } = await request(client, 'getSession', OWN, NEVER)
  const { messages } = await request(client, 'listMessages', { session: id }, NEVER)
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['go', 'Half'],
  )
  assert.equal((await request(client, 'newSession', OWN, NEVER)).active, true)
})

test('a TCP client cannot stop the turn of a local user', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  const client = overTcp(node)
  const events: string[] = []
  for await (const { event } of streamTurn(node.dispatch, { ...PERSON, content: 'go' }, NEVER)) {
    events.push(event!.$case)
    if (event?.$case !== 'chunk') continue
    await assert.rejects(request(client, 'kill', PERSON, NEVER), { kind: 'missing', message: /crab\/tcp:/ })
    await request(node.dispatch, 'kill', PERSON, NEVER)
  }
  assert.equal(events.at(-1), 'end')
})

async function readRefusal(client: Dispatch, operation: Operation, body: object) {
  const { kind, message, hint } = await request(client, operation as 'send', body, NEVER).then(
    () => assert.fail(`${operation} was served`),
    toCrabError,
  )
  return { kind, message, hint }
}

function overTcp({ services }: TestDispatch) {
  return route(handlers(services, TCP_CLIENT))
}

/** Returns everything that a client could have changed. */
async function snapshot({ home, dispatch }: TestDispatch) {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  const session = await request(dispatch, 'getSession', PERSON, NEVER)
  const agents = await readdir(join(home.paths.home, 'agents'))
  const files = [...agents.map((name) => `agents/${name}`), 'config.toml']
  const texts = await Promise.all(files.map((file) => home.read(file)))
  return { files, texts, session, count: conversations.length, stored: await readdir(home.paths.sessions) }
}
