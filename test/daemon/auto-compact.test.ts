import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompactionState } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import {
  nodeOptions,
  startTestDispatch,
  systemPrompt,
  type TestDispatch,
  type WireEvent,
} from '../support/test-dispatch.ts'
import { toSentLines } from '../support/test-node.ts'

const NEVER = new AbortController().signal
const AUTO = { options: { compactAt: 0.85 } }
const SUMMARY = 'They count crabs.'
const TOO_LONG = { status: 400, body: { error: { message: 'maximum context length is 1000 tokens' } } }

test('a turn compacts before the message that would not fit, and sends it word for word', async () => {
  await using node = await start(() => answer('yes', 1800))
  await node.ask('count crabs', AUTO)
  const events = await node.ask('and now?', AUTO)
  assert.deepEqual(compactions(events), ['started 1806/2000', 'done'])
  const sent = toSentLines(node.server.requests.at(-1))
  assert.equal(sent.length, 1)
  assert.match(sent[0]!, /<summary>\nThey count crabs\..*> count crabs\n<\/summary>\n\nand now\?$/s)
  assert.doesNotMatch(sent[0]!, /> and now/)
})

test('a turn without the option never compacts, and one that fits does not', async () => {
  await using node = await start(() => answer('yes', 1800))
  await node.ask('one')
  assert.deepEqual(compactions(await node.ask('two')), [])
  await using roomy = await start(() => answer('yes', 1400))
  await roomy.ask('one', AUTO)
  assert.deepEqual(compactions(await roomy.ask('two', AUTO)), [])
})

test('a window that the prompt and the tools fill is not compacted again and again', async () => {
  await using node = await start(() => answer('yes', 0))
  const provider = `name = "small"\nkind = "openai-compatible"\nbase_url = "${node.server.url}"`
  const models = 'models = [{ name = "scripted", context = 600 }]'
  await node.home.write('config.toml', `model = "scripted"\n[[providers]]\n${provider}\n${models}\n`)
  for (const text of ['one', 'two', 'three']) assert.deepEqual(compactions(await node.ask(text, AUTO)), [])
})

test('a turn that fills the window itself compacts between its steps, and keeps the last one', async () => {
  const look: Reply = { parts: [{ call: 'a', name: 'read', args: '{"path":"none"}' }], usage: usage(1760) }
  await using node = await start((_, index) => (index === 1 ? look : answer('done', 100)))
  await node.ask(`so far: ${'crabs '.repeat(120)}`, AUTO)
  const events = await node.ask('look', AUTO)
  assert.equal(compactions(events).length, 2)
  const sent = toSentLines(node.server.requests.at(-1))
  assert.match(sent[0]!, /> look\n<\/summary>$/s)
  assert.deepEqual(
    sent.slice(1).map((line) => line.split(':')[0]),
    ['assistant', 'tool'],
  )
})

test('the results of the tools that have just run count, within the turn and after it', async () => {
  const path = 'none/'.repeat(400)
  const look: Reply = {
    parts: [{ call: 'a', name: 'read', args: JSON.stringify({ path }) }],
    usage: usage(1300),
  }
  await using node = await start((_, index) => (index === 1 ? look : answer('done', 100)))
  await node.ask(`so far: ${'crabs '.repeat(120)}`, AUTO)
  const [started = ''] = compactions(await node.ask('look', AUTO))
  const [, size = ''] = /^started (\d+)\/2000$/.exec(started) ?? []
  assert.ok(Number(size) > 1700, started)
  await using ended = await start((_, index) => (index === 0 ? look : answer('done', 100)))
  await ended.ask('look', { options: { compactAt: 0.85, maxTurns: 1 } })
  const [next = ''] = compactions(await ended.ask('go on', AUTO))
  assert.ok(Number(/^started (\d+)/.exec(next)?.[1]) > 1700, next)
})

test('a request that the provider rejects as too long is compacted and sent once more', async () => {
  let rejected = 0
  await using node = await start((_, index) => {
    if (index === 0) return answer('yes', 10)
    return rejected++ === 0 ? TOO_LONG : answer('fits', 20)
  })
  await node.ask('one', AUTO)
  const events = await node.ask('two', AUTO)
  assert.equal(compactions(events).at(-1), 'done')
  assert.equal(events.filter(({ $case }) => $case === 'end').length, 1)
  const end = events.at(-1)
  assert.equal(end?.$case === 'end' && end.value.error, '')
})

test('a request that stays too long fails with the error of the provider', async () => {
  await using node = await start((_, index) => (index === 0 ? answer('yes', 10) : TOO_LONG))
  await node.ask('one', AUTO)
  const end = (await node.ask('two', AUTO)).at(-1)
  assert.match((end?.$case === 'end' && end.value.error) || '', /maximum context length/)
})

test('a compaction that fails is reported, and the turn continues', async () => {
  const script = (given: RecordedRequest): Reply =>
    isSummary(given) ? { status: 400, body: 'no' } : answer('yes', 1800)
  await using node = await withWindow(await startTestDispatch(script))
  await node.ask('one', AUTO)
  const events = await node.ask('two', AUTO)
  assert.deepEqual(compactions(events), ['started 1805/2000', 'failed'])
  assert.equal(
    events.some(({ $case }) => $case === 'chunk'),
    true,
  )
})

test('undo_compaction brings the messages back until the next message', async () => {
  await using node = await start(() => answer('yes', 1800))
  await node.ask('one', AUTO)
  await node.ask('two', AUTO)
  const session = await onlySession(node)
  const info = await request(node.dispatch, 'undoCompaction', { session }, NEVER)
  assert.equal(info.summary, '')
  await using other = compose(nodeOptions(node.home)) // it reads the session from the file
  await route(handlers(other, 'process'))
  await node.ask('three')
  assert.deepEqual(toSentLines(node.server.requests.at(-1)), [
    'user: one',
    'assistant: yes',
    'user: two',
    'assistant: yes',
    'user: three',
  ])
  await node.ask('four', AUTO)
  await node.ask('five')
  const undo = request(node.dispatch, 'undoCompaction', { session }, NEVER)
  await assert.rejects(undo, /you have sent a message since/)
})

test('undo_compaction brings back what was compacted between two steps of a turn', async () => {
  const look: Reply = { parts: [{ call: 'a', name: 'read', args: '{"path":"none"}' }], usage: usage(1760) }
  await using node = await start((_, index) => (index === 1 ? look : answer('done', 100)))
  await node.ask(`so far: ${'crabs '.repeat(120)}`, AUTO)
  assert.equal(compactions(await node.ask('look', AUTO)).at(-1), 'done')
  await request(node.dispatch, 'undoCompaction', { session: await onlySession(node) }, NEVER)
  await node.ask('go on')
  const sent = toSentLines(node.server.requests.at(-1))
  assert.deepEqual(
    sent.map((line) => line.split(':')[0]),
    ['user', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'user'],
  )
  assert.doesNotMatch(sent.join('\n'), /<summary>/)
})

test('undo_compaction refuses a conversation that is not compacted', async () => {
  await using node = await start(() => answer('yes', 10))
  await node.ask('one')
  const undo = request(node.dispatch, 'undoCompaction', { session: await onlySession(node) }, NEVER)
  await assert.rejects(undo, { message: 'Cannot undo the compaction: the conversation is not compacted' })
})

test('a number that is not a share is refused', async () => {
  await using node = await start(() => answer('yes', 10))
  await assert.rejects(node.ask('one', { options: { compactAt: 85 } }), /not a share between 0 and 1/)
})

async function start(script: (given: RecordedRequest, index: number) => Reply): Promise<TestDispatch> {
  let index = 0
  const reply = (given: RecordedRequest): Reply =>
    isSummary(given) ? { parts: [SUMMARY], usage: usage(50) } : script(given, index++)
  return await withWindow(await startTestDispatch(reply))
}

/** Gives the model of a node a context window of 2,000 tokens. */
async function withWindow(node: TestDispatch): Promise<TestDispatch> {
  const provider = `name = "small"\nkind = "openai-compatible"\nbase_url = "${node.server.url}"`
  const models = 'models = [{ name = "scripted", context = 2000 }]'
  await node.home.write('config.toml', `model = "scripted"\n[[providers]]\n${provider}\n${models}\n`)
  return node
}

function isSummary({ json }: RecordedRequest): boolean {
  return systemPrompt(json).includes('You compress the conversation')
}

function answer(text: string, tokens: number): Reply {
  return { parts: [text], usage: usage(tokens) }
}

function usage(input: number) {
  return { input, output: 0 }
}

function compactions(events: readonly WireEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.$case !== 'compaction') return []
    const { state, before, context } = event.value
    if (state === CompactionState.STARTED) return [`started ${before}/${context}`]
    return [state === CompactionState.DONE ? 'done' : 'failed']
  })
}

async function onlySession({ dispatch }: TestDispatch): Promise<string> {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  return conversations[0]!.filePath
}
