import assert from 'node:assert/strict'
import { appendFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import type { Leases } from '../../../src/core/lease/types.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import { Journals } from '../../../src/core/runtime/live/journals.ts'
import { RunningTurns } from '../../../src/core/runtime/running-turns.ts'
import { deleteSession, forkSession } from '../../../src/core/runtime/sessions.ts'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import {
  joinAnswer,
  newStores,
  spoken,
  startTestNode,
  type TestNode,
  toSentLines,
} from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal

test('Runtime.turn() runs the turns of a pair in order, each with the history before it', async () => {
  const leases = new MemoryLeases()
  const requests: string[] = []
  const watched: Leases = {
    take: (resource, signal) => leases.take(requests[requests.push(resource) - 1]!, signal),
  }
  const gate = Promise.withResolvers<void>()
  const stores = newStores(new MemoryStorage(), watched)
  await using node = await startTestNode(
    (request) => ({ parts: [gate.promise, `re ${toSentLines(request).at(-1)}`] }),
    { stores },
  )
  const texts = ['one', 'two', 'three', 'four']
  const turns: Promise<AgentEvent[]>[] = []
  for (const [index, text] of texts.entries()) {
    turns.push(node.ask(text))
    const isQueued = () => requests.filter((resource) => resource.startsWith('turn:')).length > index
    await until(`${text} waits for its turn`, isQueued)
  }
  gate.resolve()
  await Promise.all(turns)
  assert.deepEqual(
    spoken(await node.lines()),
    texts.flatMap((text) => [`user: ${text}`, `assistant: re user: ${text}`]),
  )
  assert.deepEqual(
    node.server.requests.map((request) => toSentLines(request).length),
    [1, 3, 5, 7],
  )
})

test('Runtime.turn() makes one session of several first messages of a pair', async () => {
  await using node = await startTestNode(() => ({ parts: ['yes'] }))
  const texts = ['one', 'two', 'three', 'four']
  await Promise.all(texts.map((text) => node.ask(text)))
  assert.equal((await readdir(node.home.paths.sessions)).length, 1)
  const lines = spoken(await node.lines())
  assert.deepEqual(
    lines.filter((_, index) => index % 2 === 1),
    texts.map(() => 'assistant: yes'),
  )
  assert.deepEqual(
    lines.filter((line) => line.startsWith('user')).toSorted(),
    texts.map((text) => `user: ${text}`).toSorted(),
  )
})

test('Runtime.turn() runs turns of two pairs concurrently', async () => {
  const both = Promise.withResolvers<void>()
  await using node = await startTestNode((_, index) => {
    if (index === 1) both.resolve()
    return { parts: ['a', both.promise, 'b'] }
  })
  const turns = await Promise.all([node.ask('hi', { sender: 'ann' }), node.ask('hi', { sender: 'bob' })])
  assert.deepEqual(turns.map(joinAnswer), ['ab', 'ab'])
})

for (const [one, other] of [
  ['ann', 'Ann'],
  ['a', 'a '],
  ['é', 'e\u0301'],
  ['../x', '..\\x'],
  ['', 'user'],
]) {
  test(`Runtime.turn() keeps the senders ${JSON.stringify(one)} and ${JSON.stringify(other)} separate`, async () => {
    await using node = await startTestNode(() => ({ parts: ['yes'] }))
    await node.ask('first', { sender: one! })
    await node.ask('second', { sender: other! })
    assert.deepEqual(toSentLines(node.server.requests[1]), ['user: second'])
    assert.equal((await readdir(node.home.paths.sessions)).length, 2)
  })
}

test('Runtime.turn() sees messages that another process stored meanwhile', async () => {
  await using node = await startTestNode(() => ({ parts: ['here'] }))
  await using other = await startOther(node)
  await node.ask('one')
  await other.ask('two')
  await node.ask('three')
  await other.ask('four')
  const before = ['user: one', 'assistant: here', 'user: two', 'assistant: there']
  assert.deepEqual(toSentLines(node.server.requests[1]), [...before, 'user: three'])
  assert.equal(toSentLines(other.server.requests[1]).length, 7)
})

test('Runtime.turn() keeps its history when another process wrote invalid lines, and says so', async () => {
  await using node = await startTestNode(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const [name] = await readdir(node.home.paths.sessions)
  const path = join(node.home.paths.sessions, name!)
  await appendFile(path, '{"seq":9,"ts":"2026-01-01T00:00:00.000Z","kind":"novelty"}\nnonsense\n{"torn')
  const events = await node.ask('two')
  assert.deepEqual(toSentLines(node.server.requests[1]), ['user: one', 'assistant: yes', 'user: two'])
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
  assert.equal(notices.length, 1)
  assert.match(notices[0]!, /was skipped: it is not a JSON object/)
  assert.deepEqual(spoken(await node.lines()), ['user: one', 'assistant: yes', 'user: two', 'assistant: yes'])
})

test('Runtime.turn() writes nothing for an ephemeral conversation, and remembers it', async () => {
  await using node = await startTestNode(() => ({ parts: ['yes'] }))
  const settings = { ephemeral: true }
  await node.ask('one', { settings })
  await node.ask('two', { settings })
  assert.deepEqual(toSentLines(node.server.requests[1]), ['user: one', 'assistant: yes', 'user: two'])
  await assert.rejects(readdir(node.home.paths.home), { code: 'ENOENT' })
})

test('Runtime.turn() lets hooks rewrite the message before anything uses it', async () => {
  const hook: Hook = { preprocess: async ({ agent, content }) => `${agent.name} was told: ${content}` }
  await using node = await startTestNode([{ parts: ['yes'] }], { hooks: [hook] })
  await node.ask('/skill')
  assert.deepEqual(toSentLines(node.server.requests[0]), ['user: crab was told: /skill'])
  assert.equal(spoken(await node.lines())[0], 'user: crab was told: /skill')
})

test('Runtime.turn() adds attachments of hooks to the message, and reports their notices after the start', async () => {
  const file = { media_type: 'image/png', data: 'iVBORw0KGgo=' }
  const hook: Hook = {
    async preprocess({ attach, notice, trust }) {
      attach(file)
      notice(`from a ${trust} turn`)
      return undefined
    },
  }
  await using node = await startTestNode([{ parts: ['yes'] }], { hooks: [hook] })
  const events = await node.ask('look', { settings: { attachments: [{ ...file, name: 'own' }] } })
  const [first] = (await node.lines()).filter((line) => line.kind === 'entry')
  assert.deepEqual(first?.attachments, [{ ...file, name: 'own' }, file])
  const [start, notice] = events
  assert.equal(start?.type, 'start')
  assert.deepEqual(notice, { type: 'notice', message: 'from a local turn' })
})

test('Runtime.turn() shows hooks every event of the turn, in order', async () => {
  const seen: AgentEvent[] = []
  const sessions = new Set<string>()
  const watcher: Hook = {
    onEvent(agent, session, event) {
      seen.push(event)
      sessions.add(`${agent} ${session}`)
    },
  }
  const script = [{ parts: ['a', { call: 'a', name: 'look', args: '' }] }, { parts: ['b'] }]
  await using node = await startTestNode(script, { hooks: [watcher, toolsHook({ look: () => 'seen' })] })
  const events = await node.ask('hi')
  assert.deepEqual(seen, events)
  const [start] = events
  assert.deepEqual([...sessions], [`crab ${start?.type === 'start' && start.sessionId}`])
})

test('Runtime registers an agent once, before it first speaks, and unregisters it at the end', async () => {
  const log: string[] = []
  const hook: Hook = {
    async onRegisterAgent({ name }) {
      await new Promise((resolve) => setImmediate(resolve))
      log.push(`+ ${name}`)
    },
    async onUnregisterAgent({ name }) {
      log.push(`- ${name}`)
    },
    onEvent: (agent, _, { type }) => type === 'start' && log.push(agent),
  }
  {
    await using node = await startTestNode(() => ({ parts: ['yes'] }), { hooks: [hook] })
    await Promise.all([node.ask('hi'), node.ask('hi', { sender: 'bob' })])
    await node.ask('hi')
  }
  assert.deepEqual(log, ['+ crab', 'crab', 'crab', 'crab', '- crab'])
})

test('Runtime registers an agent again when a hook failed the first time', async () => {
  let attempts = 0
  const hook: Hook = {
    async onRegisterAgent() {
      if (++attempts === 1) throw new Error('not yet')
    },
  }
  await using node = await startTestNode(() => ({ parts: ['yes'] }), { hooks: [hook] })
  await assert.rejects(node.ask('hi'), /not yet/)
  await node.ask('hi')
  await node.ask('hi')
  assert.equal(attempts, 2)
})

test('Runtime.turn() builds the agent with its hooks for the turn and stores none of that', async () => {
  const hook: Hook = { onBuildAgent: (config) => ({ ...config, prompt: 'Built.' }) }
  await using node = await startTestNode([{ parts: ['yes'] }], { hooks: [hook] })
  await node.ask('hi')
  assert.match(node.server.requests[0]?.text ?? '', /"Built\."/)
  assert.doesNotMatch((await node.agents.get('crab')).prompt, /Built/)
})

test('Runtime.turn() works in the directory of the turn, or the one where the conversation started', async () => {
  const seen: string[] = []
  const hook: Hook = {
    ...toolsHook({ look: ({ cwd }) => `${seen.push(cwd)}` }),
    context: async (cwd) => `in ${cwd}`,
  }
  const look = { parts: [{ call: 'a', name: 'look', args: '' }] }
  await using node = await startTestNode(
    [look, look, look].flatMap((step) => [step, { parts: ['ok'] }]),
    {
      hooks: [hook],
    },
  )
  await node.ask('one', { cwd: '/usr' })
  await node.ask('two', { cwd: '/tmp' })
  await node.ask('three')
  assert.deepEqual(seen, ['/usr', '/tmp', '/usr'])
  assert.match(node.server.requests[4]?.text ?? '', /in \/usr/)
})

test('forkSession() copies a conversation up to a line; the copy continues and the original stays', async () => {
  await using node = await startTestNode(() => ({ parts: ['yes'] }))
  await node.ask('one')
  await node.ask('two')
  const { id: agentId } = await node.agents.get('crab')
  const original = (await node.stores.storage.activeSession({ agentId, sender: 'ann' }))!
  const lines = await node.lines()
  const upto = lines.find((line) => line.kind === 'entry' && line.content === 'yes')!.seq
  const fork = await forkSession(
    { stores: node.stores, running: new RunningTurns(), journals: new Journals() },
    { id: original, upto, now: new Date() },
    NEVER,
  )
  await node.ask('instead')
  assert.deepEqual(spoken(await node.lines()), [
    'user: one',
    'assistant: yes',
    'user: instead',
    'assistant: yes',
  ])
  assert.equal((await node.stores.storage.read(fork)).header.forked_from, original)
  assert.deepEqual((await node.stores.storage.read(original)).lines, lines)
})

test('deleteSession() waits for the running turn, and the pair starts a new session', async () => {
  const gate = Promise.withResolvers<void>()
  await using node = await startTestNode([{ parts: ['a', gate.promise, 'b'] }, { parts: ['new'] }])
  const running = node.ask('one')
  await until('the model is asked', () => node.server.requests.length === 1)
  const { id: agentId } = await node.agents.get('crab')
  const id = (await node.stores.storage.activeSession({ agentId, sender: 'ann' }))!
  const deleted = deleteSession(node.stores, id, NEVER)
  gate.resolve()
  assert.equal(joinAnswer(await running), 'ab')
  await deleted
  await node.ask('two')
  assert.deepEqual(toSentLines(node.server.requests[1]), ['user: two'])
})

/**
 * Opens a second node over the sessions of the first, as another process has them: with memories of its own.
 */
async function startOther(node: TestNode): Promise<TestNode> {
  const { sessions, index } = node.home.paths
  const storage = new DiskStorage({ sessions, index })
  const other = await startTestNode(() => ({ parts: ['there'] }), { stores: newStores(storage) })
  const { id } = await node.agents.get('crab')
  await other.home.write('agents/crab.toml', `id = "${id}"\n`)
  return other
}
