import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import {
  doneReasons,
  findEnd,
  joinAnswer,
  newStores,
  requestMessages,
  spoken,
  startTestNode,
  toSentLines,
} from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'

const USAGE = { input: 12, output: 5, cacheRead: 4 }
const COUNTS = { input: 12, output: 5, cache_read: 4, cache_write: 0, reasoning: 0 }

for (const storage of ['disk', 'memory']) {
  test(`Runtime.turn() answers and remembers, with conversations ${storage === 'disk' ? 'on' : 'in'} ${storage}`, async () => {
    await using node = await startTestNode(
      [{ parts: ['Hello'], usage: USAGE }, { parts: ['Again'] }],
      storage === 'memory' ? { stores: newStores(new MemoryStorage()) } : {},
    )
    const events = await node.ask('hi')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['start', 'text-start', 'text', 'text-end', 'usage', 'end'],
    )
    assert.equal(joinAnswer(events), 'Hello')
    assert.deepEqual(await node.lines().then(spoken), ['user: hi', 'assistant: Hello'])
    await node.ask('more')
    assert.deepEqual(toSentLines(node.server.requests[1]), ['user: hi', 'assistant: Hello', 'user: more'])
    assert.deepEqual(await node.lines().then(doneReasons), ['stop', 'stop'])
  })
}

test('Runtime.turn() starts and ends with events about agent, directory, usage and cost', async () => {
  const models = [{ name: 'scripted', facts: { inputUsd: 1_000_000, outputUsd: 2_000_000, cacheReadUsd: 0 } }]
  await using node = await startTestNode([{ parts: ['yes'], usage: USAGE }], { models })
  const events = await node.ask('hi')
  const [start] = events
  assert.ok(start?.type === 'start')
  const { id: agentId } = await node.agents.get('crab')
  assert.deepEqual(start, {
    type: 'start',
    agent: 'crab',
    primary: { id: agentId, name: 'crab' },
    line: 1,
    model: 'scripted',
    sessionId: await node.stores.storage.activeSession({ agentId, sender: 'ann' }),
    runId: start.runId,
  })
  assert.match(start.runId, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
  assert.deepEqual(findEnd(events), {
    type: 'end',
    agent: 'crab',
    model: 'scripted',
    usage: COUNTS,
    turns: 1,
    stopReason: 'stop',
    costUsd: 8 + 10,
    error: undefined,
  })
})

test('Runtime.turn() has the message on disk before the model is called', async () => {
  const onDisk: Promise<string>[] = []
  await using node = await startTestNode(() => {
    onDisk.push(sessionText(node.home.paths.sessions))
    return { parts: ['yes'] }
  })
  await node.ask('remember me')
  await node.ask('and me')
  const [first, second] = await Promise.all(onDisk)
  assert.match(first ?? '', /"content":"remember me"}\n$/)
  assert.match(second ?? '', /"content":"and me"}\n$/)
})

test('Runtime.turn() writes nothing after its end event, whether or not the reader continues', async () => {
  await using node = await startTestNode(() => ({ parts: ['yes'] }))
  for await (const event of node.turn('hi')) if (event.type === 'end') break
  await node.ask('hi')
  assert.deepEqual(await node.lines().then(doneReasons), ['stop', 'stop'])
})

test("Runtime.turn() stores thinking with the answer and sends it back in its provider's format", async () => {
  const thinking = { thinking: 'Two and two', signature: 'sig' }
  await using node = await startTestNode(
    [{ parts: [thinking, { redacted: 'zzz' }, 'Four'] }, { parts: ['Sure'] }],
    { kind: 'anthropic' },
  )
  const events = await node.ask('2+2?', { settings: { thinking: true } })
  assert.deepEqual(
    events.map(({ type }) => type),
    ['start', 'thinking-start', 'thinking', 'thinking-end', 'text-start', 'text', 'text-end', 'usage', 'end'],
  )
  await node.ask('sure?', { settings: { thinking: true } })
  const [, assistant] = requestMessages(node.server.requests[1])
  assert.deepEqual(assistant?.['content'], [
    { type: 'thinking', thinking: 'Two and two', signature: 'sig' },
    { type: 'redacted_thinking', data: 'zzz' },
    { type: 'text', text: 'Four' },
  ])
})

test('Runtime.turn() keeps the partial answer when the stream is cut, and ends with the reason', async () => {
  await using node = await startTestNode([{ parts: ['Half an ans'], end: 'cut' }, { parts: ['Whole'] }])
  const events = await node.ask('hi')
  const { error, stopReason } = findEnd(events)
  assert.deepEqual([error?.kind, stopReason, joinAnswer(events)], ['unavailable', 'failed', 'Half an ans'])
  assert.equal(events.at(-2)?.type, 'text-end')
  await node.ask('go on')
  assert.deepEqual(await node.lines().then(spoken), [
    'user: hi',
    'assistant: Half an ans [failed]',
    'user: go on',
    'assistant: Whole',
  ])
  assert.deepEqual(await node.lines().then(doneReasons), ['failed', 'stop'])
})

test('Runtime.turn() keeps the message of a turn without an answer, and merges the next', async () => {
  await using node = await startTestNode([{ status: 401, body: 'no' }, { parts: ['yes'] }])
  assert.equal(findEnd(await node.ask('first')).error?.kind, 'credentials')
  await node.ask('second')
  assert.deepEqual(toSentLines(node.server.requests[1]), ['user: first\n\nsecond'])
  assert.deepEqual(await node.lines().then(spoken), ['user: first', 'user: second', 'assistant: yes'])
})

for (const finish of ['length', 'refused'] as const) {
  test(`Runtime.turn() ends with ${finish} when the model did, and keeps its answer`, async () => {
    await using node = await startTestNode([{ parts: ['So far'], finish }])
    const { stopReason, error } = findEnd(await node.ask('hi'))
    assert.deepEqual([stopReason, error], [finish, undefined])
    const line = finish === 'length' ? 'assistant: So far [length]' : 'assistant: So far'
    assert.deepEqual(await node.lines().then(spoken), ['user: hi', line])
  })
}

test('Runtime.turn() ends with `other` when the model stopped for an unknown reason', async () => {
  await using node = await startTestNode([{ parts: ['So far'], finish: 'tool-calls' }])
  assert.equal(findEnd(await node.ask('hi')).stopReason, 'other')
  assert.deepEqual(await node.lines().then(spoken), ['user: hi', 'assistant: So far'])
})

test('Runtime.turn() thinks and retries as the turn says, or as agent and provider say', async () => {
  const busy = { status: 503, headers: { 'retry-after-ms': '0' } }
  await using node = await startTestNode([busy, { parts: ['yes'] }, { parts: ['yes'] }], { maxRetries: 1 })
  await node.agents.create('deep', { thinking: true }, '')
  const retries = { agent: 'deep', settings: { retries: 0, thinking: false } }
  assert.equal(findEnd(await node.ask('hi', retries)).error?.kind, 'unavailable')
  await node.ask('hi', { agent: 'deep' })
  await node.ask('hi')
  const efforts = node.server.requests.map(({ json }) => json['reasoning_effort'])
  assert.deepEqual(efforts, [undefined, 'medium', undefined])
})

test('Runtime.turn() reports retries as they happen', async () => {
  const busy = { status: 503, headers: { 'retry-after-ms': '0' } }
  await using node = await startTestNode([busy, busy, { parts: ['yes'] }], { maxRetries: 2 })
  const events = await node.ask('hi')
  const attempts = events.flatMap((event) => (event.type === 'retry' ? [event.attempt] : []))
  assert.deepEqual([attempts, joinAnswer(events)], [[1, 2], 'yes'])
})

test('Runtime.turn() changes nothing when it cannot start', async () => {
  await using node = await startTestNode([])
  const aborted = AbortSignal.abort(new CrabError('cancelled', 'gone'))
  const failures: [() => Promise<unknown>, string][] = [
    [() => node.ask('hi', { agent: 'nobody' }), 'missing'],
    [() => node.ask('hi', { guest: 'nobody' }), 'missing'],
    [() => node.ask('hi', { settings: { maxCostUsd: 1 } }), 'config'],
    [() => node.ask('hi', { settings: { allow: ['bash('] } }), 'invalid'],
    [() => node.ask(' \n'), 'invalid'],
    [() => node.ask('hi', {}, aborted), 'cancelled'],
  ]
  for (const [turn, kind] of failures) await assert.rejects(turn(), { name: 'CrabError', kind })
  assert.deepEqual(await node.lines(), [])
  assert.deepEqual(node.server.requests, [])
})

test('Runtime.turn() fails for a tool choice that the agent does not have, before the model is called', async () => {
  await using node = await startTestNode([], { hooks: [toolsHook({ look: () => 'ok' })] })
  const { stopReason, error } = findEnd(await node.ask('hi', { toolChoice: 'hammer' }))
  assert.deepEqual([stopReason, error?.kind, error?.hint], ['failed', 'invalid', 'its tools are look'])
  assert.deepEqual(node.server.requests, [])
})

test('Runtime.turn() sends attachments with the message, and a message of nothing else', async () => {
  await using node = await startTestNode([{ parts: ['A pixel'] }])
  const attachments = [{ media_type: 'image/png', data: 'iVBORw0KGgo=', name: 'dot.png' }]
  await node.ask('', { settings: { attachments } })
  const [message] = requestMessages(node.server.requests[0])
  assert.match(JSON.stringify(message?.['content']), /data:image\/png;base64,iVBORw0KGgo=/)
  assert.deepEqual((await node.lines())[0], {
    ...{ kind: 'entry', role: 'user', content: '', attachments },
    ...{ seq: 1, ts: (await node.lines())[0]?.ts },
  })
})

async function sessionText(folder: string): Promise<string> {
  const [name] = await readdir(folder)
  return readFile(join(folder, name!), 'utf8')
}
