import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { propertyRuns } from '../support/property-runs.ts'
import {
  findEvent,
  nodeOptions,
  startTestDispatch,
  type TestDispatch,
  type WireEvent,
} from '../support/test-dispatch.ts'
import { requestMessages } from '../support/test-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const LOOK = { call: 'a', name: 'read', args: '{"path":"none"}' }
const usage = { input: 5, output: 2 }

test('a steer during tools reaches the next model call, is stored and reported', async () => {
  await using node = await startTestDispatch([{ parts: [LOOK], usage }, { parts: ['Done.'] }])
  const events = await follow(
    node,
    (event) => event.$case === 'toolStart' && steer(node, 'no, the other one'),
  )
  const order = events.map(({ $case }) => $case)
  assert.deepEqual(order.slice(order.indexOf('toolResult')), [
    ...['toolResult', 'toolsComplete', 'contextUsage', 'userSteered'],
    ...['textStart', 'chunk', 'textEnd', 'end'],
  ])
  assert.equal(findEvent(events, 'userSteered').value.content, 'no, the other one')
  assert.deepEqual(readMessages(node, 1), ['user: go', 'assistant: ', 'tool', 'user: no, the other one'])
  assert.deepEqual(await stored(node), ['go', '', 'tool', 'no, the other one', 'Done.'])
})

test('a turn that would end continues with a steer', async () => {
  await using node = await startTestDispatch([{ parts: ['First.'] }, { parts: ['Second.'] }])
  const events = await follow(node, async (event) => {
    if (event.$case !== 'chunk' || event.value.content !== 'First.') return
    await steer(node, 'and then?')
    await steer(node, 'quickly')
  })
  assert.deepEqual(
    events.flatMap((event) => (event.$case === 'userSteered' ? [event.value.content] : [])),
    ['and then?', 'quickly'],
  )
  assert.deepEqual(readMessages(node, 1), ['user: go', 'assistant: First.', 'user: and then?\n\nquickly'])
  assert.deepEqual(await stored(node), ['go', 'First.', 'and then?', 'quickly', 'Second.'])
  const { turns, detail } = findEvent(events, 'end').value
  assert.deepEqual([turns, detail?.stopReason], [2, 'stop'])
})

test('a cancelled turn returns the steers it did not use, and stores none of them', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }, { parts: ['Anew'] }])
  const events = await follow(node, async (event) => {
    if (event.$case !== 'chunk') return
    await steer(node, 'one')
    await steer(node, 'two')
    await request(node.dispatch, 'kill', PAIR, NEVER)
  })
  assert.deepEqual(
    events.slice(-3).map((event) => (event.$case === 'steerReturned' ? event.value.content : event.$case)),
    ['one', 'two', 'end'],
  )
  assert.deepEqual(await stored(node), ['go', 'Half'])
})

test('a client that aborts and reads on gets back the unused steers', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  const client = new AbortController()
  const events: WireEvent[] = []
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go' }, client.signal)) {
    events.push(event!)
    if (event?.$case !== 'chunk') continue
    await steer(node, 'one')
    client.abort()
    await assert.rejects(steer(node, 'two'), { kind: 'missing' })
  }
  assert.equal(findEvent(events, 'steerReturned').value.content, 'one')
  assert.deepEqual(await stored(node), ['go', 'Half'])
})

test('a turn that reaches its limit returns its unused steers', async () => {
  await using node = await startTestDispatch([{ parts: ['First.'] }])
  const events = await follow(node, (event) => event.$case === 'chunk' && steer(node, 'more'), {
    options: { maxTurns: 1 },
  })
  assert.equal(findEvent(events, 'steerReturned').value.content, 'more')
  assert.equal(findEvent(events, 'end').value.error, '')
})

test('a turn whose model fails returns its unused steers', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'cut' }])
  const events = await follow(node, (event) => event.$case === 'textStart' && steer(node, 'more'), {
    options: { retries: 0 },
  })
  assert.equal(findEvent(events, 'steerReturned').value.content, 'more')
  assert.equal(findEvent(events, 'end').value.detail?.stopReason, 'failed')
})

test('a client that leaves before the end has its steers stored after the answer', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }, { parts: ['Anew'] }])
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go' }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    await steer(node, 'one')
    break
  }
  assert.deepEqual(await stored(node), ['go', 'Half', 'one'])
  await node.ask('again')
  assert.deepEqual(readMessages(node, 1), ['user: go', 'assistant: Half', 'user: one\n\nagain'])
})

test('send, whose client receives no events, stores the steers', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }, { parts: ['Anew'] }])
  const sending = request(node.dispatch, 'send', { ...PAIR, content: 'go' }, NEVER)
  const failed = assert.rejects(sending, { kind: 'cancelled' })
  await until('the model is asked', () => node.server.requests.length === 1)
  await steer(node, 'one')
  await request(node.dispatch, 'kill', PAIR, NEVER)
  await failed
  assert.equal((await stored(node)).at(-1), 'one')
  await node.ask('again')
  assert.equal(readMessages(node, 1).at(-1), 'user: one\n\nagain')
})

test('a steer after a corrected answer is answered without the correction request', async () => {
  const parts = [['bad'], ['{"a":1}'], ['worse'], ['{"a":2}']]
  await using node = await startTestDispatch(parts.map((each) => ({ parts: each })))
  const schema = '{"type":"object","required":["a"]}'
  const events = await follow(
    node,
    (event) => event.$case === 'chunk' && event.value.content === '{"a":1}' && steer(node, 'another'),
    { options: { schema } },
  )
  assert.deepEqual(readMessages(node, 2), ['user: go', 'assistant: {"a":1}', 'user: another'])
  assert.equal(readMessages(node, 3).length, 5, 'the second answer is mended once, too')
  assert.equal(findEvent(events, 'end').value.error, '')
})

test('a steer without a running turn is missing, so that it can be sent as a message', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const missing = { kind: 'missing', hint: 'send it as a message' }
  await assert.rejects(steer(node, 'hello?'), missing)
  await node.ask('hi')
  await assert.rejects(steer(node, 'hello?'), missing)
  await assert.rejects(steer(node, ' \n'), { kind: 'invalid' })
  await assert.rejects(steer(node, 'hello?', { agent: 'nobody' }), { kind: 'missing', message: /nobody/ })
})

test('a steer reaches the turn of its own pair only', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  await follow(node, async (event) => {
    if (event.$case !== 'chunk') return
    await assert.rejects(steer(node, 'x', { sender: 'Ann' }), { kind: 'missing' })
    await steer(node, 'x')
    await request(node.dispatch, 'kill', PAIR, NEVER)
  })
})

test('kill stops the model call and the tools, and the conversation continues', async () => {
  const command = { call: 'b', name: 'bash', args: '{"command":"sleep 600"}' }
  await using node = await startTestDispatch([{ parts: [command] }, { parts: ['Anew'] }])
  const events = await follow(
    node,
    (event) => event.$case === 'toolStart' && request(node.dispatch, 'kill', PAIR, NEVER),
    { options: { allow: ['bash'] } },
  )
  const { error, detail } = findEvent(events, 'end').value
  assert.deepEqual([error, detail?.kind, detail?.stopReason], ['Cancelled', 'cancelled', 'cancelled'])
  findEvent(await node.ask('again'), 'end')
  assert.deepEqual(readMessages(node, 1).slice(-1), ['user: again'])
})

test('kill answers for a known idle pair, and finds no conversation for an unknown one', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await assert.rejects(request(node.dispatch, 'kill', PAIR, NEVER), { kind: 'missing' })
  await node.ask('hi')
  assert.deepEqual(await request(node.dispatch, 'kill', PAIR, NEVER), {})
  await assert.rejects(request(node.dispatch, 'kill', { ...PAIR, sender: 'bob' }, NEVER), { kind: 'missing' })
  await assert.rejects(request(node.dispatch, 'kill', { agent: 'nobody' }, NEVER), { kind: 'missing' })
})

test('steer and kill name the process that runs the turn when it is another one', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  await using services = compose({ ...nodeOptions(node.home), pid: 1 })
  const dispatch = route(handlers(services, 'process'))
  await follow(node, async (event) => {
    if (event.$case !== 'chunk') return
    const elsewhere = { kind: 'conflict', message: new RegExp(`process ${process.pid} is running it`) }
    await assert.rejects(request(dispatch, 'steerSession', { ...PAIR, content: 'x' }, NEVER), elsewhere)
    await assert.rejects(request(dispatch, 'kill', PAIR, NEVER), elsewhere)
    await request(node.dispatch, 'kill', PAIR, NEVER)
  })
})

test('kill ends the running turn only; the next one of the pair starts', async () => {
  await using node = await startTestDispatch((_, index) =>
    index === 0 ? { parts: ['Half'], end: 'hang' } : { parts: ['Next.'] },
  )
  let next: Promise<WireEvent[]> | undefined
  await follow(node, async (event) => {
    if (event.$case !== 'chunk') return
    next = node.ask('second')
    await request(node.dispatch, 'kill', PAIR, NEVER)
  })
  assert.equal(findEvent((await next)!, 'chunk').value.content, 'Next.')
})

test('steers are not lost and keep their order, whenever they come', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(12), { maxLength: 8 }), fc.boolean(), async (moments, isKilled) => {
      await using node = await startTestDispatch((_, index) => ({
        parts: index < 2 ? ['Step ', `${index}.`, LOOK] : ['An ', 'answer.'],
        ...(isKilled && index > 2 && { end: 'hang' as const }),
      }))
      const accepted: string[] = []
      const refused: string[] = []
      let seen = 0
      const events = await follow(node, async (event) => {
        for (const [name, moment] of moments.entries()) {
          if (moment !== seen) continue
          await steer(node, `s${name}`).then(
            () => accepted.push(`s${name}`),
            () => refused.push(`s${name}`),
          )
        }
        seen++
        if (isKilled && seen > 20 && event.$case === 'chunk')
          await request(node.dispatch, 'kill', PAIR, NEVER)
      })
      const readContents = (which: string) =>
        events.flatMap((event) =>
          event.$case === which && 'content' in event.value ? [String(event.value.content)] : [],
        )
      assert.deepEqual([...readContents('userSteered'), ...readContents('steerReturned')], accepted)
      const storedSteers = (await stored(node)).filter((content) => /^s\d+$/.test(content))
      assert.deepEqual(storedSteers, readContents('userSteered'))
      assert.equal(accepted.length + refused.length <= moments.length, true)
    }),
    { numRuns: propertyRuns(60, 12) },
  )
})

test('a client that leaves a stream with an open question removes the question', async () => {
  const ask = {
    call: 'q',
    name: 'ask_user',
    args: JSON.stringify({
      questions: [
        {
          question: 'Which?',
          header: 'Which',
          options: [
            { label: 'a', description: '' },
            { label: 'b', description: '' },
          ],
          multiSelect: false,
        },
      ],
    }),
  }
  await using node = await startTestDispatch([{ parts: [ask] }])
  const options = { onAsk: 1 as const }
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go', options }, NEVER)) {
    if (event?.$case !== 'askUser') continue
    assert.equal((await request(node.dispatch, 'listAsks', {}, NEVER)).asks.length, 1)
    break
  }
  assert.deepEqual(await request(node.dispatch, 'listAsks', {}, NEVER), { asks: [] })
})

/** Runs a turn to its end; `at` receives each event before the next one is requested. */
async function follow(
  { dispatch }: TestDispatch,
  at: (event: WireEvent) => unknown,
  more: object = {},
): Promise<WireEvent[]> {
  const events: WireEvent[] = []
  for await (const { event } of streamTurn(dispatch, { ...PAIR, content: 'go', ...more }, NEVER)) {
    events.push(event!)
    await at(event!)
  }
  return events
}

function steer({ dispatch }: TestDispatch, content: string, more: object = {}) {
  return request(dispatch, 'steerSession', { ...PAIR, content, ...more }, NEVER)
}

/** Returns the messages of the model call with that number. */
function readMessages({ server }: TestDispatch, index: number): string[] {
  return requestMessages(server.requests[index]).map(({ role, content }) =>
    role === 'tool' ? 'tool' : `${role}: ${content ?? ''}`,
  )
}

/** Returns the messages of the pair's conversation; tool results are shown without their text. */
async function stored({ dispatch }: TestDispatch): Promise<string[]> {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  const session = conversations[0]!.filePath
  const { messages } = await request(dispatch, 'listMessages', { session }, NEVER)
  return messages.map(({ role, content }) => (role === 'tool' ? 'tool' : content))
}
