import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedRequest, Script } from '../../support/model-server.ts'
import {
  findEnd,
  joinAnswer,
  requestMessages,
  spoken,
  startTestNode,
  type TestNode,
  toSentLines,
} from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'

const GUEST = { guest: 'critic' }

test('Runtime.turn() lets a guest answer in a conversation that stays the agent’s', async () => {
  await using node = await startWithCritic(() => ({ parts: ['Words'] }))
  await node.ask('hello')
  const events = await node.ask('what do you think?', GUEST)
  await node.ask('and you?')
  assert.deepEqual(
    events.flatMap((event) => ('agent' in event ? [event.agent] : [])),
    ['critic', 'critic', 'critic', 'critic'],
  )
  assert.deepEqual(spoken(await node.lines()), [
    'user: hello',
    'assistant: Words',
    'user: what do you think?',
    'assistant critic: Words',
    'user: and you?',
    'assistant: Words',
  ])
  assert.deepEqual(await node.lines('ann', 'critic'), [])
  const types = events.map(({ type }) => type)
  assert.deepEqual(types, ['start', 'text-start', 'text', 'text-end', 'end'])
})

test('Runtime.turn() does not count the request of a guest as the size of the conversation', async () => {
  const inputs = [2000, 400, 2100]
  await using node = await startWithCritic((_, index) => ({
    parts: ['Words'],
    usage: { input: inputs[index] ?? 0, output: 10 },
  }))
  await node.ask('hello')
  await node.ask('what do you think?', GUEST)
  await node.ask('and you?')
  const sizes = (await node.lines()).flatMap((line) =>
    line.kind === 'event' && line.event === 'done' ? [line.context_tokens] : [],
  )
  assert.deepEqual(sizes, [2010, undefined, 2110])
})

test('Runtime.turn() asks a guest with its own prompt and model, about the whole conversation, without tools', async () => {
  await using node = await startWithCritic(() => ({ parts: ['Words'] }))
  await node.ask('hello')
  await node.ask('what do you think?', GUEST)
  const [primary, guest] = node.server.requests
  assert.equal(guest?.json['model'], 'sharp')
  assert.match(readSystemPrompt(guest), /^You are a critic\..*You are a guest in a conversation/s)
  assert.doesNotMatch(readSystemPrompt(guest), /You are crab/)
  assert.deepEqual(toSentLines(guest), ['user: hello', 'assistant: Words', 'user: what do you think?'])
  assert.equal(primary?.json['tools'] === undefined, false)
  assert.equal('tools' in (guest?.json ?? {}), false)
})

test('Runtime.turn() tells the agent who else spoke, and nothing if there was no guest', async () => {
  await using node = await startWithCritic(() => ({ parts: ['Words'] }))
  await node.ask('hello')
  await node.ask('what do you think?', GUEST)
  await node.ask('and you?')
  const [before, , after] = node.server.requests
  assert.doesNotMatch(readSystemPrompt(before), /guest/)
  assert.match(readSystemPrompt(after), /said by guest agents, not by you/)
  assert.equal(requestMessages(after)[3]?.['content'], '<from agent="critic">\nWords\n</from>')
})

test('Runtime.turn() stores neither framing nor tags', async () => {
  await using node = await startWithCritic(() => ({ parts: ['Words'] }))
  await node.ask('what do you think?', GUEST)
  await node.ask('and you?')
  const folder = node.home.paths.sessions
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  assert.equal(texts.length, 1)
  assert.doesNotMatch(texts.join(), /guest|<from|You are/)
})

test('Runtime.turn() rejects the calls of a guest, and says so', async () => {
  await using node = await startWithCritic([
    { parts: ['Let me look.', { call: 'a', name: 'look', args: '{}' }] },
    { parts: [{ call: 'b', name: 'look', args: '{}' }] },
  ])
  const events = await node.ask('look', GUEST)
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
  assert.deepEqual(notices, ['The guest critic tried to call look; guests have no tools'])
  assert.equal(
    events.some(({ type }) => type.startsWith('tool')),
    false,
  )
  const { stopReason, turns } = findEnd(events)
  assert.deepEqual([stopReason, turns, joinAnswer(events)], ['stop', 1, 'Let me look.'])
  assert.equal(findEnd(await node.ask('again', GUEST)).stopReason, 'stop')
  assert.deepEqual(spoken(await node.lines()), [
    'user: look',
    'assistant critic: Let me look.',
    'user: again',
  ])
})

for (const end of ['hang', 'cut'] as const) {
  test(`Runtime.turn() drops a guest's partial answer when its turn ${end === 'cut' ? 'fails' : 'is cancelled'}`, async () => {
    await using node = await startWithCritic([{ parts: ['Half'], end }])
    const stop = new AbortController()
    for await (const event of node.turn('well?', GUEST, stop.signal)) {
      if (event.type === 'text' && end === 'hang') stop.abort()
    }
    assert.deepEqual(spoken(await node.lines()), ['user: well?'])
  })
}

test('Runtime.turn() sends a guest its own earlier messages tagged like any other', async () => {
  await using node = await startWithCritic(() => ({ parts: ['Words'] }))
  await node.ask('one', GUEST)
  await node.ask('two', GUEST)
  assert.deepEqual(toSentLines(node.server.requests[1]), [
    'user: one',
    'assistant: <from agent="critic">\nWords\n</from>',
    'user: two',
  ])
})

async function startWithCritic(script: Script): Promise<TestNode> {
  const models = ['scripted', 'sharp'].map((name) => ({ name, facts: {} }))
  const node = await startTestNode(script, { models, hooks: [toolsHook({ look: () => 'seen' })] })
  await node.agents.create('critic', { model: 'sharp' }, 'You are a critic.')
  return node
}

function readSystemPrompt(request: RecordedRequest | undefined): string {
  const messages = request?.json['messages'] as { role: string; content: string }[]
  return messages.find(({ role }) => role === 'system')?.content ?? ''
}
