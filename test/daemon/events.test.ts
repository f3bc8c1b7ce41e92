import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/base/message.ts'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import {
  AgentEventKind,
  type AgentEventMsg,
  ApprovalMode,
  type EventTrace,
  FiredState,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { request, requestMany, route } from '../../src/core/protocol/dispatch.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import { DAEMON, startTestDispatch, systemPrompt, type TestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const K = AgentEventKind

test('in a chain of three agents, each is started by the end of the one before and reads its last text', async () => {
  const logged: string[] = []
  await using node = await startTestDispatch(answerByAgent(SIGNALS), {
    daemon: DAEMON,
    log: (_, message, fields = {}) => void logged.push(`${message} ${fields['agent'] ?? fields['source']}`),
  })
  await createAgents(node, 'scout', 'clerk')
  await subscribe(node, 'rss:fetch', 'scout')
  await subscribe(node, 'agent:scout:done', 'crab')
  await subscribe(node, 'agent:crab:done', 'clerk')
  const id = '01BX5ZZKBKACTAV9WEVGEMMVRZ'
  await request(node.dispatch, 'publishEvent', { source: 'rss:fetch', payload: 'three headlines', id }, NEVER)
  const events = await traceUntil(node, id, 4)
  assert.deepEqual(
    events.map(({ source, payload, depth, fired }) => [
      source,
      payload,
      depth,
      ...fired.map(({ agent, state }) => [agent, state]),
    ]),
    [
      ['rss:fetch', 'three headlines', 0, ['scout', FiredState.DONE]],
      ['agent:scout:done', 'one matters', 1, ['crab', FiredState.DONE]],
      ['agent:crab:done', 'one matters, enriched', 2, ['clerk', FiredState.DONE]],
      ['agent:clerk:done', 'filed', 3],
    ],
  )
  assert.deepEqual(
    events.map(({ runId }) => runId),
    ['', ...events.slice(0, 3).map(({ fired }) => fired[0]!.runId)],
  )
  assert.deepEqual(readPrompts(node), [
    'scout: three headlines',
    'crab: one matters',
    'clerk: one matters, enriched',
  ])
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  assert.deepEqual(conversations.map(({ agent, sender }) => `${agent} ${sender}`).sort(), [
    'clerk event:agent:crab:done',
    'crab event:agent:scout:done',
    'scout event:rss:fetch',
  ])
  assert.deepEqual(logged.slice(0, 4), [
    'event published rss:fetch',
    'event fired scout',
    'event published agent:scout:done',
    'event fired crab',
  ])
  const ofRun = await request(node.dispatch, 'traceEvent', { id: events[0]!.fired[0]!.runId }, NEVER)
  assert.deepEqual(
    ofRun.events.map(({ source }) => source),
    events.slice(1).map(({ source }) => source),
  )
})

test('agents that start each other stop after 16 turns, and the trace says so', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['your turn'] }), { daemon: DAEMON })
  await createAgents(node, 'ping', 'pong')
  await subscribe(node, 'agent:ping:done', 'pong')
  await subscribe(node, 'agent:pong:done', 'ping')
  await node.ask('begin', { agent: 'ping' })
  const refused = () =>
    readTrace(node).then(({ events }) => events.find(({ depth }) => depth === 16)?.fired[0])
  await until('the chain ends', async () => (await refused()) !== undefined)
  assert.equal((await refused())?.state, FiredState.REFUSED)
  assert.match((await refused())?.error ?? '', /^Cannot continue: 16 events led to this one/)
  assert.equal((await refused())?.runId, '')
  const { events } = await readTrace(node)
  assert.equal(events.length, 17)
  assert.equal(node.server.requests.length, 17, 'the turn a person asked for, and 16 more')
})

test('guests and turns that are not stored publish nothing; failed and cancelled turns publish failed', async () => {
  const script = (_: RecordedRequest, index: number): Reply =>
    index === 2
      ? { status: 400, body: { error: { message: 'no such thing' } } }
      : index === 3
        ? { parts: ['cut'], finish: 'length' }
        : index === 4
          ? { end: 'hang', parts: ['so far'] }
          : { parts: ['well'] }
  await using node = await startTestDispatch(script, { daemon: DAEMON })
  await createAgents(node, 'guest')
  await node.ask('hi', { guest: 'guest' })
  await node.ask('hi', { options: { ephemeral: true } })
  assert.deepEqual((await readTrace(node)).events, [])
  await node.ask('hi')
  await node.ask('hi')
  const stop = new AbortController()
  const cancelled = node.ask('hi', {}, stop.signal).catch(() => undefined)
  await until('it speaks', () =>
    node.services.live.running().some(({ summary }) => summary.text === 'so far'),
  )
  stop.abort()
  await cancelled
  await until('all are published', async () => (await readTrace(node)).events.length === 3)
  const { events } = await readTrace(node)
  assert.deepEqual(
    events.map(({ source }) => source),
    Array(3).fill('agent:crab:failed'),
  )
  assert.match(events[0]!.payload, /no such thing/)
  assert.match(events[1]!.payload, /output limit/)
  assert.match(events[2]!.payload, /^Cancelled/)
})

test('turns of untrusted senders publish nothing, so that they start no unattended turn', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['well'] }), { daemon: DAEMON })
  await createAgents(node, 'scout')
  await node.ask('hi', { sender: 'tg:5' })
  await node.ask('hi', { sender: 'cron' })
  await until('the unattended turn is published', async () => (await readTrace(node)).events.length > 0)
  assert.deepEqual(
    (await readTrace(node)).events.map(({ source }) => source),
    ['agent:crab:done'],
  )
})

test('the text of done is what the agent said after the last tool', async () => {
  const call = { call: 'c1', name: 'glob', args: '{"pattern":"*"}' }
  await using node = await startTestDispatch(
    [{ parts: ['Let me look.', call] }, { parts: ['Two ', 'files.'] }],
    { daemon: DAEMON },
  )
  await node.ask('how many?')
  const { events } = await readTrace(node)
  assert.deepEqual(
    events.map(({ payload }) => payload),
    ['Two files.'],
  )
})

test('subscribing works without a daemon; publishing and tracing say that they need one', async () => {
  await using node = await startTestDispatch([])
  assert.deepEqual(await subscribe(node, 'rss', '', true), {
    id: 1,
    source: 'rss',
    targetAgent: 'crab',
    once: true,
  })
  await assert.rejects(subscribe(node, 'rss', 'nobody'), { kind: 'missing' })
  await assert.rejects(subscribe(node, '', 'crab'), { kind: 'invalid' })
  const unavailable = { kind: 'unavailable', hint: 'start one with crabtalk daemon run' }
  const publish = request(node.dispatch, 'publishEvent', { source: 'rss' }, NEVER)
  await assert.rejects(publish, {
    ...unavailable,
    message: 'Cannot publish the event: subscriptions fire only in a daemon',
  })
  await assert.rejects(readTrace(node), unavailable)
  const list = async () => await request(node.dispatch, 'listSubscriptions', {}, NEVER)
  assert.deepEqual(
    (await list()).subscriptions.map(({ id }) => id),
    [1],
  )
  await node.home.write('events/subscriptions.toml', 'next_id = "x"\n')
  const { subscriptions, problems } = await list()
  assert.deepEqual(
    subscriptions.map(({ id }) => id),
    [1],
  )
  assert.match(problems[0]!, /^events\/subscriptions\.toml:1: "next_id" must be/)
  await node.home.write(
    'events/subscriptions.toml',
    '[[subscription]]\nid = 4\nsource = "a"\ntarget_agent = "crab"\n',
  )
  assert.deepEqual(await request(node.dispatch, 'unsubscribeEvent', { id: 4 }, NEVER), {})
  await assert.rejects(request(node.dispatch, 'unsubscribeEvent', { id: 4 }, NEVER), { kind: 'missing' })
})

test('rename_agent updates subscriptions, and does nothing while their file is broken', async () => {
  await using node = await startTestDispatch([])
  await createAgents(node, 'scout')
  await subscribe(node, 'agent:scout:done', 'scout')
  const rename = () => request(node.dispatch, 'renameAgent', { oldName: 'scout', newName: 'finder' }, NEVER)
  const text = await node.home.read('events/subscriptions.toml')
  await node.home.write('events/subscriptions.toml', `${text}x = 1\n`)
  await assert.rejects(rename(), { kind: 'config', message: /subscriptions\.toml:8/ })
  assert.equal((await request(node.dispatch, 'getAgent', { name: 'scout' }, NEVER)).name, 'scout')
  await node.home.write('events/subscriptions.toml', text)
  await rename()
  const { subscriptions } = await request(node.dispatch, 'listSubscriptions', {}, NEVER)
  assert.deepEqual(subscriptions, [
    { id: 1, source: 'agent:finder:done', targetAgent: 'finder', once: false },
  ])
})

test('a deleted agent is not started, and the trace says why', async () => {
  await using node = await startTestDispatch([], { daemon: DAEMON })
  await createAgents(node, 'scout')
  await subscribe(node, 'rss', 'scout')
  await request(node.dispatch, 'deleteAgent', { name: 'scout' }, NEVER)
  await request(node.dispatch, 'publishEvent', { source: 'rss', payload: 'x' }, NEVER)
  const fired = () => readTrace(node).then(({ events }) => events[0]!.fired[0]!)
  await until('it is refused', async () => (await fired()).state === FiredState.REFUSED)
  assert.match((await fired()).error, /Cannot find the agent "scout"/)
})

test('a turn that ends with the daemon starts nothing', async () => {
  const node = await startTestDispatch([{ parts: ['so far'], end: 'hang' }], { daemon: DAEMON })
  await createAgents(node, 'scout')
  await subscribe(node, 'agent:crab:failed', 'scout')
  const { runId } = await request(
    node.dispatch,
    'send',
    { agent: 'crab', content: 'hi', detach: true },
    NEVER,
  )
  await until('it speaks', () =>
    node.services.live.running().some(({ summary }) => summary.text === 'so far'),
  )
  await node.services[Symbol.asyncDispose]()
  assert.notEqual(runId, '')
  assert.equal(node.server.requests.length, 1)
  await node.server[Symbol.asyncDispose]()
  await node.home[Symbol.asyncDispose]()
})

test('subscribe_events sends every turn as flat events; a failed turn is done for clients that do not ask for failures', async () => {
  const long = '€'.repeat(1000)
  const bash = { call: 'c1', name: 'bash', args: JSON.stringify({ command: `echo ${long}\necho two` }) }
  const glob = { call: 'c2', name: 'glob', args: '{"pattern":"*"}' }
  await using node = await startTestDispatch(
    [
      { parts: [bash, glob] },
      { parts: ['done'], usage: { input: 12_345, output: 1200 } },
      { status: 400, body: { error: { message: 'no such thing' } } },
    ],
    { daemon: DAEMON },
  )
  const usual = follow(node, [])
  const chosen = follow(node, [K.TURN_STARTED, K.TURN_FAILED, K.DONE, K.PUBLISHED])
  await until('both listen', () => node.services.events.hasListeners)
  await node.ask('go', { options: { mode: ApprovalMode.ALL } })
  await node.ask('again')
  const flat = (events: AgentEventMsg[]) =>
    events.map(({ kind, content }) => `${K[kind as never] ?? kind} ${content}`)
  await until(
    'all came',
    () => usual.seen.filter(({ kind }) => kind === K.DONE).length === 2 && chosen.seen.length >= 6,
  )
  const start = usual.seen.find(({ kind }) => kind === K.TOOL_START)!
  assert.deepEqual([start.agent, start.sender, start.content], ['crab', 'ann', `bash(echo ${long}), glob`])
  assert.deepEqual(
    start.toolCalls.map(({ callId, name }) => [callId, name]),
    [
      ['c1', 'bash'],
      ['c2', 'glob'],
    ],
  )
  const results = usual.seen.filter(({ kind }) => kind === K.TOOL_RESULT)
  assert.equal(results.length, 2)
  assert.ok(
    results.every(
      ({ content, toolOutput }) => /^\d+ms$/.test(content) && Buffer.byteLength(toolOutput) <= 2048,
    ),
  )
  assert.ok(results.some(({ toolOutput }) => Buffer.byteLength(toolOutput) > 2000))
  assert.ok(
    usual.seen.every(
      ({ runId, session, timestamp }) =>
        runId !== '' && session !== '' && !Number.isNaN(Date.parse(timestamp)),
    ),
  )
  assert.ok(
    usual.seen.every(({ kind }) => kind <= K.THINKING_END),
    'nothing that was not asked for',
  )
  const [first, second] = usual.seen.filter(({ kind }) => kind === K.DONE)
  assert.match(first!.content, /^scripted [\d.]+k in \(\d+ cached\) \/ [\d.]+k? out$/)
  assert.equal(second!.content, 'scripted')
  assert.deepEqual(
    chosen.seen.map(({ kind }) => kind),
    [K.TURN_STARTED, K.DONE, K.PUBLISHED, K.TURN_STARTED, K.TURN_FAILED, K.PUBLISHED],
    String(flat(chosen.seen)),
  )
  assert.equal(chosen.seen[2]!.content, 'agent:crab:done done')
  assert.notEqual(chosen.seen[2]!.eventId, '')
  assert.match(chosen.seen[4]!.content, /no such thing/)
  await usual.stop()
  await chosen.stop()
  assert.equal(node.services.events.hasListeners, false)
})

test('subscribe_events does not report turns that are not stored', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['psst'] }), { daemon: DAEMON })
  const all = follow(node, [])
  await until('it listens', () => node.services.events.hasListeners)
  await node.ask('hi', { options: { ephemeral: true } })
  await node.ask('hello')
  await until('the second is done', () => all.seen.some(({ kind }) => kind === K.DONE))
  assert.equal(all.seen.filter(({ kind }) => kind === K.TEXT_DELTA).length, 1)
  await all.stop()
})

test('a TCP client cannot follow agents, publish, or list subscriptions', async () => {
  await using node = await startTestDispatch([], { daemon: DAEMON })
  const dispatch = route(handlers(node.services, TCP_CLIENT))
  const denied = { kind: 'denied' }
  await assert.rejects(request(dispatch, 'publishEvent', { source: 'rss' }, NEVER), denied)
  await assert.rejects(
    request(dispatch, 'subscribeEvent', { source: 'rss', targetAgent: 'crab' }, NEVER),
    denied,
  )
  await assert.rejects(request(dispatch, 'unsubscribeEvent', { id: 1 }, NEVER), denied)
  await assert.rejects(request(dispatch, 'traceEvent', {}, NEVER), denied)
  const published = requestMany(dispatch, 'subscribeEvents', { kinds: [K.DONE, K.PUBLISHED] }, NEVER)
  await assert.rejects(published.next(), denied)
  await assert.rejects(request(dispatch, 'listSubscriptions', {}, NEVER), denied)
})

/** The answer of each agent, by its prompt. */
const SIGNALS: Readonly<Record<string, string>> = {
  scout: 'one matters',
  crab: 'one matters, enriched',
  clerk: 'filed',
}

function answerByAgent(answers: Readonly<Record<string, string>>) {
  return ({ json }: RecordedRequest): Reply => ({ parts: [answers[readAgentName(json)] ?? '?'] })
}

function readAgentName(json: JsonObject): string {
  return /You are (\w+)/.exec(systemPrompt(json))?.[1] ?? ''
}

function readPrompts({ server }: TestDispatch): string[] {
  return server.requests.map(({ json }) => {
    const messages = json['messages'] as { role: string; content: string }[]
    return `${readAgentName(json)}: ${messages.findLast(({ role }) => role === 'user')?.content}`
  })
}

async function createAgents({ dispatch }: TestDispatch, ...names: string[]): Promise<void> {
  for (const name of names)
    await request(dispatch, 'createAgent', { name, config: '', prompt: `You are ${name}.` }, NEVER)
}

function subscribe({ dispatch }: TestDispatch, source: string, targetAgent: string, once = false) {
  return request(dispatch, 'subscribeEvent', { source, targetAgent, once }, NEVER)
}

function readTrace({ dispatch }: TestDispatch): Promise<EventTrace> {
  return request(dispatch, 'traceEvent', {}, NEVER)
}

async function traceUntil({ dispatch }: TestDispatch, id: string, count: number) {
  const read = async () => (await request(dispatch, 'traceEvent', { id }, NEVER)).events
  await until(`${count} events came of it`, async () => (await read()).length === count)
  return await read()
}

function follow({ dispatch }: TestDispatch, kinds: AgentEventKind[]) {
  const stop = new AbortController()
  const seen: AgentEventMsg[] = []
  const done = (async () => {
    for await (const event of requestMany(dispatch, 'subscribeEvents', { kinds }, stop.signal))
      seen.push(event)
  })().catch((reason: unknown) => assert.ok(stop.signal.aborted, String(reason)))
  return {
    seen,
    async stop() {
      stop.abort()
      await done
    },
  }
}
