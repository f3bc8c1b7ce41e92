import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import {
  doneReasons,
  findEnd,
  requestMessages,
  spoken,
  startTestNode,
  toSentLines,
} from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'

const BUSY = { status: 529, headers: { 'retry-after-ms': '0' }, body: { error: { message: 'Overloaded' } } }
const PATIENT = { settings: { retryPolicy: 'patient', retries: 4 } } as const

test('a patient turn repeats an answer that was cut, and stores only the whole one', async () => {
  const script = [{ parts: ['Half an '], end: 'cut' as const }, BUSY, { parts: ['The whole answer'] }]
  await using node = await startTestNode([...script, { parts: ['Fine'] }])
  const events = await node.ask('hi', PATIENT)
  assert.deepEqual(events.map(shown), [
    'start',
    'text-start',
    'Half an ',
    'retry 1/5 discards 1',
    'text-end',
    'retry 2/5',
    'text-start',
    'The whole answer',
    'text-end',
    'end',
  ])
  assert.equal(findEnd(events).stopReason, 'stop')
  assert.deepEqual(await node.lines().then(spoken), ['user: hi', 'assistant: The whole answer'])
  await node.ask('thanks')
  assert.deepEqual(toSentLines(node.server.requests[3]), [
    'user: hi',
    'assistant: The whole answer',
    'user: thanks',
  ])
})

test('a patient turn does not run the calls of an answer that was cut', async () => {
  const calls: string[] = []
  const look = { call: 'c1', name: 'look', args: '{}' }
  const hooks = [toolsHook({ look: () => `seen ${calls.push('look')}` })]
  const script = [
    { parts: ['Let me', look], end: 'cut' as const },
    { parts: ['So', look] },
    { parts: ['Done'] },
  ]
  await using node = await startTestNode(script, { hooks })
  assert.equal(findEnd(await node.ask('hi', PATIENT)).stopReason, 'stop')
  assert.deepEqual(calls, ['look'])
  assert.deepEqual(await node.lines().then(spoken), [
    'user: hi',
    'assistant: So <look>',
    'tool: seen 1',
    'assistant: Done',
  ])
})

test('a patient turn that is never answered again keeps what it has, and says how often it tried', async () => {
  const script = [{ parts: ['Half'], end: 'cut' as const }, BUSY, BUSY, BUSY, BUSY]
  await using node = await startTestNode(script)
  const { error, stopReason } = findEnd(await node.ask('hi', PATIENT))
  assert.deepEqual(
    [stopReason, error?.kind, error?.message],
    ['failed', 'unavailable', 'Cannot call scripted (test): Overloaded (529), after 5 attempts'],
  )
  assert.deepEqual(await node.lines().then(spoken), ['user: hi', 'assistant: Half [failed]'])
})

test('a turn that is cancelled while it waits ends immediately, and keeps what it has', async () => {
  const late = { ...BUSY, headers: { 'retry-after': '200' } }
  await using node = await startTestNode([{ parts: ['Half'], end: 'cut' }, late, { parts: ['Go on'] }])
  const controller = new AbortController()
  let last: AgentEvent | undefined
  for await (const event of node.turn('hi', PATIENT, controller.signal)) {
    last = event
    if (event.type === 'retry' && event.delayMs === 200_000) controller.abort()
  }
  assert.ok(last?.type === 'end' && last.stopReason === 'cancelled')
  assert.deepEqual(await node.lines().then(spoken), ['user: hi', 'assistant: Half [cancelled]'])
  assert.deepEqual(await node.lines().then(doneReasons), ['cancelled'])
  await node.ask('again')
  assert.equal(requestMessages(node.server.requests[2]).length, 3)
})

test('unattended and delegated turns are patient unless they say otherwise, others are not', async () => {
  const cut = { parts: ['Half'], end: 'cut' as const }
  const turns = [
    [{ trust: 'unattended', sender: 'event:x' }, 'stop'],
    [{ trust: 'remote', sender: 'delegate:x' }, 'stop'],
    [{ trust: 'remote', sender: 'tg:1' }, 'failed'],
    [{ trust: 'local', sender: 'ann' }, 'failed'],
    [{ trust: 'unattended', sender: 'cron:x', settings: { retryPolicy: 'quick' } }, 'failed'],
  ] as const
  for (const [request, stop] of turns) {
    const settings = { retries: 2, ...('settings' in request ? request.settings : {}) }
    await using node = await startTestNode([cut, { parts: ['Whole'] }])
    assert.equal(findEnd(await node.ask('hi', { ...request, settings })).stopReason, stop, request.sender)
  }
})

function shown(event: AgentEvent): string {
  if (event.type === 'text') return event.delta
  if (event.type !== 'retry') return event.type
  const { attempt, maxAttempts, discardedTexts } = event
  return `retry ${attempt}/${maxAttempts}${discardedTexts === undefined ? '' : ` discards ${discardedTexts}`}`
}
