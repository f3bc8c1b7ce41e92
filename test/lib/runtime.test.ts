import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embed, type Hook, type ModelEvent, type Provider } from '../../src/lib/runtime.ts'

/** Creates a model whose answer is a function of the conversation. */
function makeModel(answer: (said: readonly string[]) => readonly ModelEvent[]): Provider {
  return {
    defaultModel: () => 'stub',
    prepare() {},
    facts: () => ({}),
    costUsd: () => undefined,
    async *complete({ messages }) {
      yield* answer(messages.map(({ role, content }) => `${role}: ${content}`))
    },
  }
}

const FINISH: ModelEvent = { type: 'finish', reason: 'stop', usage: undefined }
const CRAB = { name: 'crab', prompt: 'You are crab.' }

test('embed() runs turns with agents and models passed as values, and remembers conversations', async () => {
  const provider = makeModel((said) => [{ type: 'text', delta: said.join(' | ') }, FINISH])
  await using runtime = embed({ agents: [CRAB], provider })
  assert.equal(await joinEvents(runtime.turn('one')), 'user: one')
  assert.equal(await joinEvents(runtime.turn('two')), 'user: one | assistant: user: one | user: two')
  assert.equal(await joinEvents(runtime.turn('three', { sender: 'other' })), 'user: three')
})

test('embed() lists, reads, searches and continues conversations', async () => {
  const provider = makeModel((said) => [{ type: 'text', delta: `heard ${said.length}` }, FINISH])
  await using runtime = embed({ agents: [CRAB], provider })
  const { sessions } = runtime
  await joinEvents(runtime.turn('Where does the ferry leave?', { sender: 'ann' }))
  await joinEvents(runtime.turn('What is for lunch?', { sender: 'bob' }))
  const { sessions: rows, total } = await sessions.list({ limit: 1 })
  assert.deepEqual([rows.map(({ sender }) => sender), total], [['bob'], 2])
  const found = async (ask: Parameters<typeof sessions.search>[0]) =>
    (await sessions.search(ask)).matches.map(({ header, seq }) => `${header.created_by} ${seq}`)
  assert.deepEqual(await found({ text: 'ferry' }), ['ann 1'])
  const id = await sessions.create({ sender: 'ann' })
  assert.equal(await sessions.append(id, { role: 'user', content: 'The ferry ferry to the island' }), 1)
  assert.equal(await sessions.append(id, { role: 'assistant', content: 'At nine' }), 2)
  assert.deepEqual((await found({ text: 'ferry' })).toSorted(), ['ann 1', 'ann 1'])
  assert.deepEqual(await found({ text: 'ferry', isSender: (sender) => sender === 'bob' }), [])
  const page = await sessions.messages(id, { offset: 1 })
  assert.deepEqual([page.messages.map(({ content }) => content), page.total], [['At nine'], 2])
  const { messageCount, sender } = await sessions.meta(id)
  assert.deepEqual([messageCount, sender], [2, 'ann'])
  assert.match(await joinEvents(runtime.turn('And back?', { sender: 'ann' })), /^heard 3$/)
})

test('two embedded runtimes share nothing', async () => {
  const provider = makeModel((said) => [{ type: 'text', delta: `${said.length}` }, FINISH])
  await using one = embed({ agents: [CRAB], provider })
  await using two = embed({ agents: [{ ...CRAB, name: 'crab', max_iterations: 3 }], provider })
  assert.deepEqual(
    [await joinEvents(one.turn('a')), await joinEvents(two.turn('a')), await joinEvents(one.turn('b'))],
    ['1', '1', '3'],
  )
})

test('embed() gives agents the tools of its hooks, and no others', async () => {
  const hook: Hook = {
    schema: () => [
      { name: 'double', description: 'Doubles', parameters: { type: 'object' }, readOnly: true },
    ],
    dispatch: (name, { args }) =>
      name === 'double'
        ? Promise.resolve({ output: String(2 * Number(args['n'])), isError: false })
        : undefined,
  }
  const provider = makeModel((said) =>
    said.length === 1
      ? [
          { type: 'tool-call', call: { id: 'c', name: 'double', arguments: '{"n":21}' } },
          { ...FINISH, reason: 'tool-calls' },
        ]
      : [{ type: 'text', delta: said.at(-1)! }, FINISH],
  )
  await using runtime = embed({ agents: [CRAB], provider, hooks: [hook] })
  assert.equal(await joinEvents(runtime.turn('21?')), 'tool: 42')
})

test('embed() rejects unknown agents, and lists the known ones', async () => {
  const provider = makeModel(() => [FINISH])
  assert.throws(() => embed({ agents: [{ name: '../x', prompt: '' }], provider }), { kind: 'invalid' })
  assert.throws(() => embed({ agents: [{ ...CRAB, max_iterations: -1 }], provider }), {
    kind: 'invalid',
    message: /max_iterations/,
  })
  await using runtime = embed({ agents: [CRAB], provider })
  await assert.rejects(joinEvents(runtime.turn('x', { agent: 'nobody' })), {
    kind: 'missing',
    hint: 'its agents: crab',
  })
})

async function joinEvents(events: AsyncIterable<{ type: string; delta?: string }>): Promise<string> {
  let text = ''
  for await (const event of events) if (event.type === 'text') text += event.delta
  return text
}
