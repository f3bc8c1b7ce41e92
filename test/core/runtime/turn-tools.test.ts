import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Trust } from '../../../src/core/policy/types.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import type { RecordedRequest } from '../../support/model-server.ts'
import {
  doneReasons,
  findEnd,
  joinAnswer,
  requestMessages,
  spoken,
  startTestNode,
  toSentLines,
} from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'

test('Runtime.turn() runs calls in parallel: events as they end, results in the order of the calls', async () => {
  const slow = Promise.withResolvers<string>()
  const tools = toolsHook({ slow: () => slow.promise, fast: () => 'quick' })
  const parts = ['Looking.', call('a', 'slow'), call('b', 'fast')]
  await using node = await startTestNode([{ parts }, { parts: ['Done'] }], { hooks: [tools] })
  const events: string[] = []
  for await (const event of node.turn('go')) {
    events.push(event.type === 'tool-result' ? `${event.callId}: ${event.output}` : event.type)
    if (event.type === 'tool-start')
      assert.deepEqual(
        event.calls.map(({ id }) => id),
        ['a', 'b'],
      )
    if (event.type === 'tool-result') slow.resolve('late') // only once the fast one was reported
  }
  assert.deepEqual(events, [
    ...['start', 'text-start', 'text', 'text-end'],
    ...['tool-start', 'b: quick', 'a: late', 'tools-complete'],
    ...['text-start', 'text', 'text-end', 'end'],
  ])
  const stored = [
    'user: go',
    'assistant: Looking. <slow> <fast>',
    'tool: late',
    'tool: quick',
    'assistant: Done',
  ]
  assert.deepEqual(spoken(await node.lines()), stored)
  assert.deepEqual(toSentLines(node.server.requests[1]), [
    'user: go',
    'assistant: Looking.',
    'tool: late',
    'tool: quick',
  ])
})

test('Runtime.turn() stores a whole step: the message, then each result and its outcome', async () => {
  const tools = toolsHook({
    draw: () => ({
      output: 'a dot',
      isError: true,
      attachments: [{ media_type: 'image/png', data: 'AA==' }],
    }),
  })
  await using node = await startTestNode([{ parts: [call('a', 'draw', '{"x":1}')] }, { parts: ['Done'] }], {
    hooks: [tools],
  })
  await node.ask('go')
  const lines = (await node.lines()).map(({ seq: _, ts: __, ...line }) => line)
  const [, decision, assistant, result, event] = lines
  assert.deepEqual(decision, {
    ...{ kind: 'event', event: 'permission', call_id: 'a', name: 'draw' },
    ...{ effect: 'allow', by: 'default', reason: 'it changes nothing' },
  })
  assert.deepEqual(assistant, {
    kind: 'entry',
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'a', name: 'draw', arguments: '{"x":1}' }],
  })
  assert.deepEqual(result, {
    kind: 'entry',
    role: 'tool',
    tool_call_id: 'a',
    name: 'draw',
    content: 'a dot',
    is_error: true,
    attachments: [{ media_type: 'image/png', data: 'AA==' }],
  })
  assert.equal(event?.kind === 'event' && event.event === 'tool_result' && event.call_id, 'a')
})

test('Runtime.turn() gives tools the sender, the directory, and the environment of the client', async () => {
  const seen: unknown[] = []
  const look = toolsHook({
    look({ agent, sender, session, cwd, env, args, callId }) {
      seen.push([agent.name, sender, session.length > 0, cwd, env, args, callId])
      return 'ok'
    },
  })
  const step = { parts: [call('a', 'look', '{"x":1}')] }
  await using node = await startTestNode([step, { parts: ['ok'] }, step, { parts: ['ok'] }], {
    hooks: [look],
  })
  await node.ask('go', { cwd: '/usr', settings: { env: { LANG: 'C' } } })
  await node.ask('go', { cwd: '/usr' })
  const same = ['crab', 'ann', true, '/usr']
  assert.deepEqual(seen, [
    [...same, { LANG: 'C' }, { x: 1 }, 'a'],
    [...same, {}, { x: 1 }, 'a'],
  ])
})

test('Runtime.turn() lets the model read what is wrong with its calls, and continue', async () => {
  const tools = toolsHook({
    look: () => 'ok',
    fail: () => {
      throw new Error('broken')
    },
  })
  const parts = [call('a', 'hammer'), call('b', 'look', '{"path":'), call('c', 'fail')]
  await using node = await startTestNode([{ parts }, { parts: ['I see'] }], { hooks: [tools] })
  const events = await node.ask('go')
  const errors = events.flatMap((event) => (event.type === 'tool-result' ? [event.isError] : []))
  assert.deepEqual([errors, joinAnswer(events)], [[true, true, true], 'I see'])
  assert.deepEqual(
    requestMessages(node.server.requests[1]).flatMap(({ role, content }) =>
      role === 'tool' ? [content] : [],
    ),
    [
      'Cannot call hammer: no tool has that name; available: look, fail',
      'Cannot call look: its arguments are not a JSON object',
      'Unexpected failure: broken',
    ],
  )
})

test('Runtime.turn() ends at max_iterations with whole steps, and the next turn continues', async () => {
  const again = { parts: [call('a', 'look')] }
  await using node = await startTestNode([again, again, { parts: ['At last'] }], {
    hooks: [toolsHook({ look: () => 'more' })],
  })
  await node.agents.create('worker', { max_iterations: 2 }, '')
  const { stopReason, turns, error } = findEnd(await node.ask('go', { agent: 'worker' }))
  assert.deepEqual([stopReason, turns, error], ['max_turns', 2, undefined])
  const lines = await node.lines('ann', 'worker')
  const step = ['assistant:  <look>', 'tool: more']
  assert.deepEqual(spoken(lines), ['user: go', ...step, ...step])
  assert.deepEqual(doneReasons(lines), ['max_turns'])
  assert.equal(joinAnswer(await node.ask('and?', { agent: 'worker' })), 'At last')
})

test("Runtime.turn() prefers its own limit to the agent's", async () => {
  await using node = await startTestNode([{ parts: [call('a', 'look')] }], {
    hooks: [toolsHook({ look: () => 'x' })],
  })
  assert.equal(findEnd(await node.ask('go', { settings: { maxTurns: 1 } })).stopReason, 'max_turns')
})

test('Runtime.turn() lets an untrusted turn lower the limit of the agent, but not raise it', async () => {
  const again = { parts: [call('a', 'look')] }
  await using node = await startTestNode(() => again, { hooks: [toolsHook({ look: () => 'x' })] })
  await node.agents.create('worker', { max_iterations: 2 }, '')
  const countCalls = async (trust: Trust, maxTurns: number) =>
    findEnd(await node.ask('go', { agent: 'worker', sender: `${trust}:1`, trust, settings: { maxTurns } }))
      .turns
  assert.equal(await countCalls('remote', 5), 2)
  assert.equal(await countCalls('remote', 1), 1)
  assert.equal(await countCalls('local', 5), 5)
})

test('Runtime.turn() shows, and runs, only the tools that the agent names', async () => {
  const ran: string[] = []
  const look = toolsHook({ look: () => String(ran.push('look')), edit: () => String(ran.push('edit')) })
  await using node = await startTestNode(
    [{ parts: [call('a', 'edit'), call('b', 'look')] }, { parts: ['ok'] }],
    {
      hooks: [look],
    },
  )
  await node.agents.create('reader', { tools: ['look', 'nothing'] }, '')
  const events = await node.ask('go', { agent: 'reader' })
  assert.deepEqual(readTools(node.server.requests[0]), ['look'])
  assert.deepEqual(ran, ['look'])
  const refused = events.flatMap((event) =>
    event.type === 'tool-result' && event.isError ? [event.callId] : [],
  )
  assert.deepEqual(refused, ['a'])
})

test('Runtime.turn() shows, and runs, only the tools a hook has for the agent, and says what limits it', async () => {
  const both = toolsHook({ look: () => 'ok', edit: () => 'never' })
  const scoped: Hook = {
    ...both,
    schema: async (...at) => ((await both.schema?.(...at)) ?? []).filter(({ name }) => name === 'look'),
    scope: () => 'tools: look',
  }
  await using node = await startTestNode([{ parts: [call('a', 'edit')] }, { parts: ['ok'] }], {
    hooks: [scoped],
  })
  const events = await node.ask('go')
  assert.deepEqual(readTools(node.server.requests[0]), ['look'])
  assert.match(node.server.requests[0]?.text ?? '', /<scope>\\ntools: look\\n<\/scope>/)
  assert.match(readOutput(events), /no tool has that name; available: look/)
})

test('Runtime.turn() without tools shows none and runs none', async () => {
  await using node = await startTestNode([{ parts: [call('a', 'look')] }, { parts: ['ok'] }], {
    hooks: [toolsHook({ look: () => 'never' })],
  })
  const events = await node.ask('go', { settings: { tools: 'none' } })
  assert.equal('tools' in (node.server.requests[0]?.json ?? {}), false)
  assert.match(readOutput(events), /no tools are available/)
})

test('Runtime.turn() that may only read shows and runs no other tool', async () => {
  await using node = await startTestNode([{ parts: [call('a', 'write')] }, { parts: ['ok'] }], {
    hooks: [toolsHook({ look: () => 'seen' }, { readOnly: true }), toolsHook({ write: () => 'never' })],
  })
  const events = await node.ask('go', { settings: { tools: 'read' } })
  assert.deepEqual(readTools(node.server.requests[0]), ['look'])
  assert.match(readOutput(events), /no tool has that name; available: look/)
})

const CHOICES: Record<string, unknown> = {
  auto: 'auto',
  none: 'none',
  required: 'required',
  look: { type: 'function', function: { name: 'look' } },
}

for (const [choice, sent] of Object.entries(CHOICES)) {
  test(`Runtime.turn() sends the tool choice ${choice} with the first call only`, async () => {
    await using node = await startTestNode([{ parts: [call('a', 'look')] }, { parts: ['ok'] }], {
      hooks: [toolsHook({ look: () => 'ok' })],
    })
    await node.ask('go', { toolChoice: choice })
    const [first, second] = node.server.requests.map(({ json }) => json['tool_choice'])
    assert.deepEqual(first, sent)
    assert.ok(second === undefined || second === 'auto')
  })
}

test('Runtime.turn() sends no tool choice without tools', async () => {
  await using node = await startTestNode([{ parts: ['ok'] }], { hooks: [toolsHook({ look: () => 'ok' })] })
  await node.ask('go', { toolChoice: 'required', settings: { tools: 'none' } })
  assert.equal('tool_choice' in node.server.requests[0]!.json, false)
})

test('"Runtime.turn() uses the agent\'s tool choice, unless the turn has no tools"', async () => {
  await using node = await startTestNode(() => ({ parts: ['ok'] }), {
    hooks: [toolsHook({ look: () => 'ok' })],
  })
  await node.agents.create('keen', { tool_choice: 'look' }, '')
  await node.ask('go', { agent: 'keen' })
  await node.ask('go', { agent: 'keen', settings: { tools: 'none' } })
  await node.ask('go', { guest: 'keen' })
  assert.deepEqual(
    node.server.requests.map(({ json }) => json['tool_choice']),
    [{ type: 'function', function: { name: 'look' } }, undefined, undefined],
  )
})

test('Runtime.turn() asks for its tools again before the next model call when a tool changed them', async () => {
  const names = ['find']
  const hook: Hook = {
    schema: () => names.map((name) => ({ name, description: '', parameters: {}, readOnly: true })),
    async dispatch(_name, { offerAgain }) {
      names.push('found')
      offerAgain()
      return { output: 'one more', isError: false }
    },
  }
  const script = [{ parts: [call('a', 'find')] }, { parts: ['Done'] }]
  await using node = await startTestNode(script, { hooks: [hook] })
  await Array.fromAsync(node.turn('go'))
  assert.deepEqual(node.server.requests.map(readTools), [['find'], ['find', 'found']])
})

function call(id: string, name: string, args = '{}') {
  return { call: id, name, args }
}

function readTools(request: RecordedRequest | undefined): unknown {
  const tools = request?.json['tools'] as { function: { name: string } }[] | undefined
  return tools?.map((tool) => tool.function.name)
}

function readOutput(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'tool-result' ? event.output : '')).join('')
}
