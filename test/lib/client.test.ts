import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route } from '../../src/core/protocol/dispatch.ts'
import { listen } from '../../src/core/transport/listen.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { type Client, connect, createClient, type TurnEvent } from '../../src/lib/client.ts'
import type { Script } from '../support/model-server.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

interface Place extends AsyncDisposable {
  node: TestDispatch
  client: Client
}

/** Starts a client of a home whose socket is served in this process. */
async function startPlace(script: Script): Promise<Place> {
  const node = await startTestDispatch(script)
  const { run, home } = node.home.paths
  const endpoint = { kind: 'unix', path: `${run}/crabtalk.sock` } as const
  const listener = await listen(endpoint, {
    dispatch: route(handlers(node.services, 'local')),
    graceMs: 100,
    onError: assert.fail,
  })
  return {
    node,
    client: await connect({ home }),
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]()
      await node[Symbol.asyncDispose]()
    },
  }
}

test('connect() reports that no daemon is running in that home', async () => {
  await using node = await startTestDispatch([])
  await assert.rejects(connect({ home: node.home.paths.home }), {
    kind: 'unavailable',
    message: /^Cannot reach a daemon at unix:.*: none is running$/,
    hint: /crabtalk daemon run/,
  })
})

test('stream() yields the events of a turn, in order and counted', async () => {
  await using at = await startPlace([{ parts: ['Hello there'] }])
  const events: TurnEvent[] = await Array.fromAsync(at.client.stream('hi', { sender: 'bob' }))
  assert.deepEqual(
    events.map(({ seq, $case }) => `${seq} ${$case}`),
    ['1 start', '2 textStart', '3 chunk', '4 textEnd', '5 end'],
  )
})

test('conversations(), messages() and search() return the stored messages', async () => {
  await using at = await startPlace(() => ({ parts: ['At nine.'] }))
  await at.client.send('Where does the ferry leave?', { sender: 'bob' })
  await at.client.send('What is for lunch?', { sender: 'ann' })
  const { conversations, total } = await at.client.conversations({ limit: 1 })
  assert.deepEqual([conversations.map(({ sender }) => sender), total], [['ann'], 2])
  const { hits } = await at.client.search('ferry', { contextAfter: 1 })
  assert.deepEqual(
    hits.map(({ session, seq, window }) => [session?.sender, seq, window.length]),
    [['bob', 1, 2]],
  )
  const page = await at.client.messages(hits[0]!.session!.id, { offset: 1 })
  assert.deepEqual([page.messages.map(({ content }) => content), page.total], [['At nine.'], 2])
})

test('send() and ask() return the whole answer, and throw the failure of a turn', async () => {
  await using at = await startPlace([
    { parts: ['Yes'] },
    { parts: ['No'] },
    { status: 401, body: 'who are you' },
  ])
  const { content, turns, stopReason } = await at.client.send('one')
  assert.deepEqual([content, turns, stopReason], ['Yes', 1, 'stop'])
  assert.equal(await at.client.ask('two'), 'No')
  await assert.rejects(at.client.send('three'), { kind: 'credentials' })
})

test('onAsk answers questions of the agent, in a stream and in a whole answer', async () => {
  const question = { question: 'Which?', header: 'Which', options: [{ label: 'a' }, { label: 'b' }] }
  const call = { call: 'c', name: 'ask_user', args: JSON.stringify({ questions: [question] }) }
  await using at = await startPlace([{ parts: [call] }, { parts: ['So b.'] }])
  const prompts: string[] = []
  const onAsk = ({ questions }: { questions: { question: string }[] }) => {
    prompts.push(questions[0]!.question)
    return { 'Which?': 'b' }
  }
  assert.equal(await at.client.ask('choose', { onAsk }), 'So b.')
  assert.deepEqual(prompts, ['Which?'])
  assert.match(at.node.server.requests[1]!.text, /Which\?[^}]*b/)
})

test('a question that another client answers first does not end the turn', async () => {
  const question = { question: 'Which?', header: 'Which', options: [{ label: 'a' }, { label: 'b' }] }
  const call = { call: 'c', name: 'ask_user', args: JSON.stringify({ questions: [question] }) }
  const late = Promise.withResolvers<void>()
  await using node = await startTestDispatch([{ parts: [call] }, { parts: [late.promise, 'So b.'] }])
  let answers = 0
  const client = createClient(async function* (message, signal) {
    try {
      yield* node.dispatch(message, signal)
    } finally {
      if (message.msg?.$case === 'replyToAsk' && ++answers === 2) late.resolve()
    }
  })
  const onAsk = async ({ askId }: { askId: string }) => {
    await client.answer(askId, { 'Which?': 'b' })
    return { 'Which?': 'a' }
  }
  assert.equal(await client.ask('choose', { onAsk }), 'So b.')
})

test('a question that cannot be answered ends the turn with the reason', async () => {
  const question = { question: 'Which?', header: 'Which', options: [{ label: 'a' }, { label: 'b' }] }
  const call = { call: 'c', name: 'ask_user', args: JSON.stringify({ questions: [question] }) }
  await using at = await startPlace([{ parts: [call] }])
  const onAsk = () => {
    throw new Error('no idea')
  }
  await assert.rejects(at.client.send('choose', { onAsk }), /no idea/)
})

test('subscribe() rejects anything but a list of kinds, and lists them', async () => {
  await using at = await startPlace([])
  const { signal } = new AbortController()
  // @ts-expect-error: programs in JavaScript have no types
  assert.throws(() => at.client.subscribe({ signal }), {
    kind: 'invalid',
    message: 'Cannot subscribe: the kinds are not a list',
    hint: /^subscribe\(kinds, signal\)/,
  })
})

test('kill() stops a turn, follow() and subscribe() see it, and wait() returns its end', async () => {
  await using at = await startPlace([{ parts: ['Half'], end: 'hang' }])
  const { runId } = await at.client.send('go', { detach: true })
  const stop = new AbortController()
  let text = ''
  const following = (async () => {
    for await (const { event } of at.client.follow({}, stop.signal)) {
      if (event?.$case === 'stream' && event.value.event?.$case === 'chunk')
        text += event.value.event.value.content
    }
  })().catch(({ kind }) => assert.equal(kind, 'cancelled'))
  await until('it speaks', () => text === 'Half')
  await at.client.kill()
  const { content, end } = await at.client.wait(runId)
  assert.deepEqual([content, end?.detail?.stopReason], ['Half', 'cancelled'])
  stop.abort()
  await following
})

test('createClient() does the same over a dispatch of this process', async () => {
  await using node = await startTestDispatch([{ parts: ['Yes'] }])
  const client = createClient(node.dispatch)
  assert.equal(await client.ask('one'), 'Yes')
  const { agents } = await client.request('listAgents')
  assert.deepEqual(
    agents.map(({ name }) => name),
    ['crab'],
  )
})

test('leaving a stream cancels its turn', async () => {
  await using at = await startPlace([{ parts: ['Half'], end: 'hang' }])
  for await (const event of at.client.stream('go')) if (event.$case === 'chunk') break
  assert.equal(await at.node.server.requests[0]!.done, false)
  await until('nothing runs', () => at.node.services.live.running().length === 0)
})
