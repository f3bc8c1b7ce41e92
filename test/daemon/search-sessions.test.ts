import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Channel, TCP_CLIENT } from '../../src/core/policy/trust.ts'
import type { DeepPartial, SearchSessions } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { DAEMON, nodeOptions, startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
/** The example key in the documentation of AWS. */
const TOKEN = 'AKIAIOSFODNN7EXAMPLE'
const SEARCH = { call: 'a', name: 'search_sessions', args: '{"query":"heron"}' }

test('search_sessions returns a session with its facts, and the match in its window', async () => {
  await using node = await talkativeNode()
  await node.ask('the grey heron')
  await node.ask('and the otter')
  const { hits, partial } = await search(node, { query: 'heron', contextAfter: 1 })
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const session = await request(node.dispatch, 'getSession', { session: conversations[0]!.filePath }, NEVER)
  assert.equal(partial, false)
  assert.deepEqual(
    hits.map((hit) => hit.session),
    [session],
  )
  assert.equal(session.active, true)
  const [hit] = hits
  assert.deepEqual(
    hit!.window.map(({ seq, role, snippet, matches }) => [seq, role, snippet, matches]),
    [
      [1, 'user', 'the grey heron', [9, 14]],
      [2, 'assistant', 'yes', []],
    ],
  )
  assert.equal(hit!.seq, 1)
  assert.ok(hit!.score > 0)
})

test('search_sessions searches everything for a local user, by any of its filters', async () => {
  await using node = await talkativeNode()
  await request(node.dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  await node.ask('heron')
  await node.ask('heron', { sender: 'bob', cwd: '/usr' })
  await node.ask('heron', { agent: 'critic' })
  const found = async (filter: DeepPartial<SearchSessions>) => {
    const { hits } = await search(node, { query: 'heron', ...filter }, 'local')
    return hits.map(({ session }) => `${session!.agent} ${session!.sender}`).toSorted()
  }
  assert.deepEqual(await found({}), ['crab ann', 'crab bob', 'critic ann'])
  assert.deepEqual(await found({ agent: 'crab' }), ['crab ann', 'crab bob'])
  assert.deepEqual(await found({ sender: 'ann' }), ['crab ann', 'critic ann'])
  assert.deepEqual(await found({ cwd: '/usr' }), ['crab bob'])
  assert.deepEqual(await found({ until: '2020-01-01' }), [])
  assert.deepEqual((await found({ since: '2020-01-01T00:00:00Z' })).length, 3)
  assert.deepEqual((await found({ limit: 1 })).length, 1)
  await assert.rejects(found({ agent: 'nobody' }), { kind: 'missing' })
  await assert.rejects(found({ since: 'yesterday-ish' }), {
    kind: 'invalid',
    message: /since is not a timestamp/,
  })
})

test('search_sessions finds the conversations of an agent under its current name, and after it is deleted', async () => {
  await using node = await talkativeNode()
  await request(node.dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  await node.ask('heron', { agent: 'critic' })
  await request(node.dispatch, 'renameAgent', { oldName: 'critic', newName: 'judge' }, NEVER)
  const names = async (agent: string) =>
    (await search(node, { query: 'heron', agent })).hits.map(({ session }) => session!.agent)
  assert.deepEqual(await names('judge'), ['judge'])
  await request(node.dispatch, 'deleteAgent', { name: 'judge' }, NEVER)
  assert.deepEqual(await names('critic'), ['critic'])
})

test("search_sessions over TCP finds only the client's own pair, and nothing for a sender that claims to be local", async () => {
  await using node = await talkativeNode()
  await request(node.dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  for (const sender of ['ann', 'telegram:1', 'telegram:2']) await node.ask('heron', { sender })
  await node.ask('heron', { sender: 'telegram:1', agent: 'critic' })
  const found = async (filter: DeepPartial<SearchSessions>) => {
    const { hits } = await search(node, { query: 'heron', ...filter }, TCP_CLIENT)
    return hits.map(({ session }) => `${session!.agent} ${session!.sender}`)
  }
  assert.deepEqual(await found({ sender: 'telegram:1' }), ['crab telegram:1'])
  assert.deepEqual(await found({ sender: 'telegram:1', agent: 'critic' }), ['critic telegram:1'])
  assert.deepEqual(await found({ sender: 'telegram:3' }), [])
  for (const sender of ['', 'ann', 'cron']) assert.deepEqual(await found({ sender }), []) // as tcp:ann and so on
  for (const sender of ['sh:1', 'event:x']) await assert.rejects(found({ sender }), { kind: 'denied' })
})

test('an agent finds the conversations of all local users, and a remote sender only its own', async () => {
  await using node = await startTestDispatch(({ text, json }) => {
    const { role } = (json['messages'] as { role: string }[]).at(-1)!
    return { parts: [text.includes('look it up') && role !== 'tool' ? SEARCH : 'yes'] }
  })
  await node.ask('a heron of ann')
  await node.ask('a heron of bob', { sender: 'bob' })
  await node.ask('a heron of elsewhere', { sender: 'telegram:1' })
  await node.ask('a heron of another', { sender: 'telegram:2' })
  await node.ask('look it up', { sender: 'carol' })
  const here = lastResult(node)
  assert.match(here, /heron of ann/)
  assert.match(here, /heron of bob/)
  assert.doesNotMatch(here, /elsewhere|another/)
  const elsewhere = route(handlers(node.services, 'local'))
  await request(elsewhere, 'send', { content: 'look it up', agent: 'crab', sender: 'telegram:1' }, NEVER)
  assert.doesNotMatch(lastResult(node), /ann|bob|another/)
})

test('a daemon has indexed all conversations before the first search, and finds what others write', async () => {
  await using node = await talkativeNode()
  await node.ask('the grey heron')
  await using daemon = compose({ ...nodeOptions(node.home), daemon: DAEMON })
  daemon.sessionIndex.warm()
  const found = async (query: string) =>
    (await request(route(handlers(daemon, 'local')), 'searchSessions', { query }, NEVER)).hits.length
  await until('the heron is found', async () => (await found('heron')) === 1)
  await node.ask('an otter')
  assert.equal(await found('otter'), 1)
  await request(node.dispatch, 'deleteConversation', { filePath: await onlySession(node) }, NEVER)
  assert.equal(await found('otter heron'), 0)
})

test('secrets are masked in the title and preview of a match, wherever these are cut', async () => {
  await using node = await startTestDispatch(({ text, json }) => {
    const { role } = (json['messages'] as { role: string }[]).at(-1)!
    return { parts: [text.includes('look it up') && role !== 'tool' ? SEARCH : 'yes'] }
  })
  await node.ask(`the heron has the token ${TOKEN}`)
  const session = await onlySession(node)
  const searchText = async () => JSON.stringify(await search(node, { query: 'heron' }))
  assert.match(await searchText(), /the heron has the token \*\*\*/)
  assert.doesNotMatch(await searchText(), /AKIA/)
  await request(node.dispatch, 'setTitle', { session, title: `heron ${TOKEN}` }, NEVER)
  assert.match(await searchText(), /"title":"heron \*\*\*"/)
  assert.doesNotMatch(await searchText(), /AKIA/)
  await node.ask('look it up', { sender: 'bob' })
  assert.match(lastResult(node), /heron \*\*\*/)
  assert.doesNotMatch(lastResult(node), /AKIA/)
  await node.ask(`${'x '.repeat(35)}${TOKEN} heron`, { sender: 'carol' })
  const { hits } = await search(node, { query: 'heron', sender: 'carol' })
  assert.equal(hits[0]?.session?.preview, `${'x '.repeat(35)}*** heron`)
})

function talkativeNode(): Promise<TestDispatch> {
  return startTestDispatch(() => ({ parts: ['yes'] }))
}

async function search(
  node: TestDispatch,
  message: DeepPartial<SearchSessions>,
  channel: Channel = 'process',
) {
  return await request(route(handlers(node.services, channel)), 'searchSessions', message, NEVER)
}

async function onlySession({ dispatch }: TestDispatch): Promise<string> {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  assert.equal(conversations.length, 1)
  return conversations[0]!.filePath
}

/** Returns the result of the last tool call. */
function lastResult({ server }: TestDispatch): string {
  const messages = server.requests.at(-1)?.json['messages'] as { role: string; content: string }[]
  return messages.findLast(({ role }) => role === 'tool')?.content ?? ''
}
