import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import {
  McpActionKind,
  McpEventKind,
  type McpTraceEvent,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { request, requestMany, route } from '../../src/core/protocol/dispatch.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { type ObservedNode, startObservedNode } from '../support/observed-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

test('mcp_trace shows the traffic of one server only, from its start', async () => {
  await using node = await startObservedNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.declare('crab', one, two)
  await using trace = await follow(node, { agent: 'crab', name: 'one' })
  await call(node, 'two', { text: 'unseen' })
  await call(node, 'one', { text: 'né' })
  const isAnswer = ({ id, method, outgoing }: McpTraceEvent, findCall: McpTraceEvent | undefined) =>
    method === '' && !outgoing && id === findCall?.id
  const findCall = () => trace.events.find(({ method }) => method === 'tools/call')
  await until('the answer is traced', () => trace.events.some((event) => isAnswer(event, findCall())))
  const answer = trace.events.find((event) => isAnswer(event, findCall()))
  assert.match(findCall()!.payload, /^\{.*"method":"tools\/call".*"text":"né"/)
  assert.match(answer!.payload, /"text":"né"/)
  assert.ok(answer!.durationMs !== undefined && answer!.ts !== '')
  const methods = trace.events.map(({ method }) => method)
  assert.ok(methods.includes('initialize') && methods.includes('tools/list'), methods.join())
  assert.doesNotMatch(JSON.stringify(trace.events), /unseen/)
  const { fingerprint } = (await node.peers())[0]!
  assert.ok(trace.events.every((event) => event.fingerprint === fingerprint))
})

test('mcp_trace attributes calls, progress, answers and cancellations of two turns that share a process', async () => {
  const call = { call: 'c', name: 'mcp__one__sleep', args: '{"ms": 300, "steps": 3}' }
  await using node = await startObservedNode(({ text }) => ({ parts: [/slept/.test(text) ? 'done' : call] }))
  const server = node.watch('one', {})
  await node.declare('ann', server)
  await node.declare('bob', server)
  await node.services.agentSync.syncAll()
  await node.pidOf(server)
  await using trace = await follow(node, {})
  const ask = (agent: string, sender: string, stop = NEVER) =>
    node.ask('sleep', { agent, sender, options: { allow: ['mcp__*'] } }, stop)
  await Promise.all([ask('ann', 'ann one'), ask('bob', 'bob one')])
  const stop = new AbortController()
  const cancelled = ask('ann', 'ann two', stop.signal)
  const requests = () => trace.events.filter(({ method }) => method === 'tools/call')
  await until('the third calls', () => requests().length === 3)
  stop.abort()
  await cancelled.catch(() => undefined) // as its signal says
  await until('it is cancelled', () =>
    trace.events.some(({ method }) => method === 'notifications/cancelled'),
  )
  const runs = new Set<string>()
  for (const { agent, sender, runId, id, payload } of requests()) {
    const { progressToken } = JSON.parse(payload).params._meta
    const own = trace.events.filter((event) => {
      const { params = {} } = JSON.parse(event.payload)
      return (
        [params.progressToken, params.requestId].includes(progressToken) ||
        (!event.outgoing && event.id === id)
      )
    })
    assert.deepEqual([sender.split(' ')[0], runId !== ''], [agent, true])
    assert.deepEqual(
      new Set(own.map((event) => [event.agent, event.sender, event.runId].join())),
      new Set([[agent, sender, runId].join()]),
    )
    assert.ok(own.length >= 2 || own.some(({ method }) => method === 'notifications/cancelled'), payload)
    runs.add(runId)
  }
  assert.deepEqual([runs.size, new Set(trace.events.map(({ fingerprint }) => fingerprint)).size], [3, 1])
  assert.deepEqual(server.starts().length, 1)
})

test('mcp_trace without a server shows all servers, and stops listening when the client leaves', async () => {
  await using node = await startObservedNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.declare('crab', one, two)
  {
    await using trace = await follow(node, {})
    for (const name of ['one', 'two']) await call(node, name, { text: name })
    const calls = () => trace.events.filter(({ method }) => method === 'tools/call')
    await until('both are traced', () => calls().length === 2)
    assert.equal(new Set(calls().map(({ fingerprint }) => fingerprint)).size, 2)
  }
  assert.equal(node.services.mcpFrames.hasListeners, false)
})

test('mcp_trace with logs shows what servers write to standard error, in place of messages', async () => {
  await using node = await startObservedNode()
  const [one, two] = ['one', 'two'].map((name) => node.watch(name, { tools: ['few'], flood: 3_000 }))
  await node.declare('crab', one!, two!)
  await using trace = await follow(node, { agent: 'crab', name: 'one', logs: true })
  for (const name of ['two', 'one']) await call(node, name, { text: name })
  const lines = () => trace.events.flatMap(({ payload }) => payload.split('\n'))
  await until('all of it is there', () => lines().join('\n').length >= 2_900)
  const { logs } = await request(
    node.dispatch,
    'mcpAction',
    { agent: 'crab', name: 'one', action: McpActionKind.LOGS },
    NEVER,
  )
  assert.deepEqual(lines().slice(0, logs.length), logs.slice(0, lines().length))
  const owners = new Set(trace.events.flatMap((event) => event.owners.map(({ name }) => name)))
  assert.deepEqual([[...owners], trace.events.some(({ method }) => method !== '')], [['one'], false])
})

test('mcp_trace rejects unknown servers and untrusted clients', async () => {
  await using node = await startObservedNode()
  await node.declare('crab', node.watch('one'))
  const first = (body: object, dispatch = node.dispatch) =>
    requestMany(dispatch, 'mcpTrace', body, NEVER).next()
  await assert.rejects(first({ agent: 'none' }), { kind: 'missing' })
  await assert.rejects(first({ agent: 'crab', name: 'none' }), { kind: 'missing', message: /"none"/ })
  await assert.rejects(first({}, route(handlers(node.services, TCP_CLIENT))), { kind: 'denied' })
})

test('subscribe_mcp_events tells each owner what happens to a connection', async () => {
  await using node = await startObservedNode()
  const server = node.watch('one')
  await node.declare('ann', server)
  await node.declare('bob', server)
  const seen: string[] = []
  const syncing = node.services.agentSync.syncAll()
  for await (const event of requestMany(node.dispatch, 'subscribeMcpEvents', {}, NEVER)) {
    const { agent, kind, name, fingerprint, owners, tools, timestamp } = event
    assert.match(fingerprint, /^[0-9a-f]{64}$/)
    assert.ok(!Number.isNaN(Date.parse(timestamp)))
    seen.push(`${agent} ${name} ${KINDS[kind]}`)
    if (kind !== McpEventKind.CONNECTED) continue
    assert.deepEqual(owners.map((owner) => owner.agent).toSorted(), ['ann', 'bob'])
    assert.deepEqual(tools, ['echo', 'add'])
    if (seen.filter((line) => line.endsWith(' CONNECTED')).length === 2) break
  }
  await syncing
  assert.equal(new Set(seen).size, 4, seen.join())
})

const KINDS = Object.fromEntries(Object.entries(McpEventKind).map(([name, kind]) => [kind, name]))

/** Follows a trace until it is disposed. */
async function follow(
  node: ObservedNode,
  body: object,
): Promise<AsyncDisposable & { events: McpTraceEvent[] }> {
  const leave = new AbortController()
  const events: McpTraceEvent[] = []
  const done = (async () => {
    for await (const event of requestMany(node.dispatch, 'mcpTrace', body, leave.signal)) events.push(event)
  })().catch(() => undefined) // the client has left
  await until('a client listens', () => node.services.mcpFrames.hasListeners)
  return {
    events,
    async [Symbol.asyncDispose]() {
      leave.abort()
      await done
    },
  }
}

function call({ dispatch }: ObservedNode, name: string, args: object) {
  const { CALL: action } = McpActionKind
  const body = { agent: 'crab', name, action, tool: 'echo', arguments: JSON.stringify(args) }
  return request(dispatch, 'mcpAction', body, NEVER)
}
