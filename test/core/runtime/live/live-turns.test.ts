import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../../src/core/base/errors.ts'
import type { AgentEvent } from '../../../../src/core/runtime/events.ts'
import {
  type ConversationSnapshot,
  type FollowEvent,
  followConversation,
} from '../../../../src/core/runtime/live/follow.ts'
import type { Storage } from '../../../../src/core/storage/types.ts'
import { collect, ends, type LiveNode, startLive } from '../../../support/live-node.ts'
import { spoken } from '../../../support/test-node.ts'
import { until } from '../../../support/until.ts'

const NEVER = new AbortController().signal

test('LiveTurns counts the events of a conversation across its turns, and sends observers each of them', async () => {
  await using at = await startLive(() => ({ parts: ['yes'] }))
  const one = await Array.fromAsync(at.live.stream(at.request('one'), NEVER))
  const two = await Array.fromAsync(at.live.stream(at.request('two'), NEVER))
  const other = await Array.fromAsync(at.live.stream(at.request('three', { sender: 'bob' }), NEVER))
  const seqs = [...one, ...two].map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  )
  assert.equal(other[0]!.seq, 1)
  assert.deepEqual(
    at.observed.slice(0, one.length),
    one.map(({ event }) => `crab ${event.type}`),
  )
  assert.equal(at.observed.length, one.length + two.length + other.length)
})

test('LiveTurns.stream() cancels with its client, and tells followers', async () => {
  await using at = await startLive([{ parts: ['Half'], end: 'hang' }])
  for await (const { event } of at.live.stream(at.request('go'), NEVER)) if (event.type === 'text') break
  assert.deepEqual(at.observed.at(-1), 'crab end')
  assert.deepEqual(at.live.running(), [])
  assert.equal((await at.live.wait('run-1', NEVER)).end.stopReason, 'cancelled')
  assert.deepEqual(spoken(await at.node.lines()), ['user: go', 'assistant: Half [cancelled]'])
})

test('LiveTurns.detach() continues when its follower leaves, and can be waited for', async () => {
  const gate = Promise.withResolvers<void>()
  await using at = await startLive([{ parts: ['One', gate.promise, ' two'] }])
  const run = await at.live.detach(at.request('go'))
  for await (const { event } of run.follow(NEVER)) if (event.type === 'text') break
  assert.equal(at.live.running().length, 1)
  const waiting = at.live.wait(run.id, NEVER)
  gate.resolve()
  const { run: ended, end } = await waiting
  assert.deepEqual([ended.summary.text, end.stopReason], ['One two', 'stop'])
  const again = await Array.fromAsync(run.follow(NEVER))
  assert.deepEqual([again[0]!.event.type, again.at(-1)!.event.type], ['start', 'end'])
  assert.deepEqual(spoken(await at.node.lines()), ['user: go', 'assistant: One two'])
})

test('LiveTurns.detach() is refused like a turn, and leaves nothing behind', async () => {
  await using at = await startLive([])
  await assert.rejects(at.live.detach(at.request('go', { agent: 'nobody' })), { kind: 'missing' })
  await assert.rejects(at.live.detach(at.request('  ')), { kind: 'invalid' })
  await assert.rejects(at.live.wait('run-1', NEVER), { kind: 'missing' })
  assert.deepEqual(at.live.running(), [])
})

test('LiveTurns.detach() answers while the conversation is busy, and runs after the current turn', async () => {
  const gate = Promise.withResolvers<void>()
  await using at = await startLive([{ parts: [gate.promise, 'one'] }, { parts: ['two'] }])
  const first = await at.live.detach(at.request('a'))
  await until('the model is asked', () => at.node.server.requests.length === 1)
  const second = await at.live.detach(at.request('b'))
  assert.deepEqual(
    at.live.running().map(({ id, start }) => [id, start !== undefined]),
    [
      [first.id, true],
      [second.id, false],
    ],
  )
  gate.resolve()
  assert.equal((await at.live.wait(second.id, NEVER)).run.summary.text, 'two')
  assert.deepEqual(spoken(await at.node.lines()), ['user: a', 'assistant: one', 'user: b', 'assistant: two'])
})

test('a detached turn stores steers that came too late when it has no follower, otherwise it returns them', async () => {
  for (const isFollowed of [true, false]) {
    const gate = Promise.withResolvers<void>()
    await using at = await startLive([{ parts: ['One', gate.promise], end: 'hang' }])
    const run = await at.live.detach(at.request('go'))
    const events: AgentEvent[] = []
    const following = isFollowed ? collect(run.follow(NEVER), events) : undefined
    await until('it speaks', () => at.live.running()[0]?.summary.text === 'One')
    const { id: agentId } = await at.node.agents.get('crab')
    const to = { pair: { agentId, sender: 'ann' }, trust: 'local' } as const
    at.node.running.steer(to, 'wait')
    at.node.running.cancel(to)
    await at.live.wait(run.id, NEVER)
    await following
    await at.live.settled()
    assert.equal(
      events.some(({ type }) => type === 'steer-returned'),
      isFollowed,
    )
    assert.equal(spoken(await at.node.lines()).includes('user: wait'), !isFollowed)
  }
})

test('followConversation() yields a running turn from its start, and everything later', async () => {
  const gate = Promise.withResolvers<void>()
  await using at = await startLive([
    { parts: ['old'] },
    { parts: ['One', gate.promise, ' two'] },
    { parts: ['new'] },
  ])
  const old = await Array.fromAsync(at.live.stream(at.request('a'), NEVER))
  const run = await at.live.detach(at.request('b'))
  await until('it speaks', () => at.live.running()[0]?.summary.text === 'One')
  const seen: FollowEvent[] = []
  const stop = new AbortController()
  const following = collect(at.follow(0, stop.signal), seen).catch(({ kind }) =>
    assert.equal(kind, 'cancelled'),
  )
  await until('it is seen', () => seen.some((told) => told.type === 'event' && told.event.type === 'text'))
  gate.resolve()
  await at.live.wait(run.id, NEVER)
  await Array.fromAsync(at.live.stream(at.request('c'), NEVER))
  await until('it has ended', () => ends(seen) === 2)
  stop.abort()
  await following
  const [first] = seen
  assert.ok(first?.type === 'snapshot')
  const messages = (await at.node.lines()).flatMap((line) =>
    line.kind === 'entry' && line.role === 'user' ? [line] : [],
  )
  assert.deepEqual(
    [first.snapshot.runId, first.snapshot.resumedAfter, first.snapshot.upto],
    [run.id, old.length, messages[1]!.seq],
  )
  assert.equal(joinText(seen), 'One twonew')
  const seqs = seen.flatMap((told) => (told.type === 'event' ? [told.seq] : []))
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => old.length + 1 + index),
  )
  const texts = seen.flatMap((told) => (told.type === 'message' ? [told.message] : []))
  assert.deepEqual(
    texts.map(({ content, line }) => [content, line]),
    [['c', messages[2]!.seq]],
  )
})

test('followConversation() resumes after the last event that was seen', async () => {
  await using at = await startLive(() => ({ parts: ['yes'] }))
  const one = await Array.fromAsync(at.live.stream(at.request('one'), NEVER))
  const two = await Array.fromAsync(at.live.stream(at.request('two'), NEVER))
  const stop = new AbortController()
  const seen: FollowEvent[] = []
  const following = collect(at.follow(one.length, stop.signal), seen).catch(() => undefined)
  await until('it has ended', () => ends(seen) === 1)
  stop.abort()
  await following
  const events = seen.flatMap((told) => (told.type === 'event' ? [told] : []))
  assert.deepEqual(
    events.map(({ seq }) => seq),
    two.map(({ seq }) => seq),
  )
  assert.ok(seen[0]?.type === 'snapshot' && seen[0].snapshot.resumedAfter === one.length)
  assert.equal(seen.filter(({ type }) => type === 'message').length, 1)
})

test('followConversation() of a new pair waits for its first message', async () => {
  await using at = await startLive(() => ({ parts: ['yes'] }))
  const stop = new AbortController()
  const seen: FollowEvent[] = []
  const following = collect(at.follow(0, stop.signal), seen).catch(() => undefined)
  await until('it is seen', () => seen.length === 1)
  assert.deepEqual(seen[0], {
    type: 'snapshot',
    snapshot: {
      session: undefined,
      runId: '',
      seq: 0,
      resumedAfter: 0,
      upto: 0,
      isUnfinished: false,
      contextTokens: undefined,
    },
    isFollowers: false,
  })
  await Array.fromAsync(at.live.stream(at.request('one'), NEVER))
  await until('it has ended', () => ends(seen) === 1)
  stop.abort()
  await following
  assert.equal(joinText(seen), 'yes')
  const snapshot = seen.findLast((told) => told.type === 'snapshot')
  assert.equal(snapshot?.snapshot.session, await readSession(at))
})

test('a turn that is not stored cannot be followed by others', async () => {
  await using at = await startLive(() => ({ parts: ['secret'] }))
  const stop = new AbortController()
  const seen: FollowEvent[] = []
  const following = collect(at.follow(0, stop.signal), seen).catch(() => undefined)
  await until('it is seen', () => seen.length === 1)
  await Array.fromAsync(at.live.stream(at.request('x', { settings: { ephemeral: true } }), NEVER))
  await Array.fromAsync(at.live.stream(at.request('y', { settings: {} }), NEVER))
  await until('it has ended', () => ends(seen) === 1)
  stop.abort()
  await following
  assert.deepEqual(
    seen.flatMap((told) => (told.type === 'message' ? [told.message.content] : [])),
    ['y'],
  )
})

test('followConversation() shows nothing of a turn that is not stored', async () => {
  await using at = await startLive([{ parts: ['secret'], end: 'hang' }])
  const stop = new AbortController()
  const hidden = at.live.stream(at.request('x', { settings: { ephemeral: true } }), stop.signal)
  await hidden.next()
  assert.equal((await readSnapshot(at)).runId, '')
  await hidden.return(undefined)
})

for (const isKept of [true, false]) {
  const what = isKept ? 'speaks' : 'has spoken for long and speaks'
  test(`followConversation() starts immediately with a turn that ${what} without a pause`, async () => {
    await using at = await startLive([{ parts: ['One'], end: 'hang' }])
    const { id: agentId } = await at.node.agents.get('crab')
    const pair = { agentId, sender: 'ann' }
    using followed = at.journals.followed(pair)
    const run = await at.live.detach(at.request('go'))
    await until('it speaks', () => at.live.running()[0]?.summary.text === 'One')
    if (!isKept) followed.journal.trim(0)
    let reads = 0
    const storage = new Proxy(at.node.stores.storage, {
      get(real, name: keyof Storage) {
        if (name === 'read' && ++reads > 20) throw new Error('it reads without end')
        if (name === 'read') followed.journal.event(run.id, { type: 'text', delta: ' more' })
        return real[name].bind(real)
      },
    })
    const following = followConversation({ pair, afterSeq: 0 }, { ...at, storage }, NEVER)
    const { value: first } = await following.next()
    assert.ok(first?.type === 'snapshot' && first.snapshot.runId === run.id)
    await following.return(undefined)
  })
}

test('followConversation() marks events that its reader has not seen yet', async () => {
  await using at = await startLive([{ parts: ['yes'] }])
  const following = at.follow()
  await following.next()
  const all = await Array.fromAsync(at.live.stream(at.request('one'), NEVER))
  const seen: FollowEvent[] = []
  for await (const entry of following) if (seen.push(entry) && ends(seen) === 1) break
  const anew = seen.flatMap((told) => (told.type === 'snapshot' ? [told.snapshot] : []))
  assert.deepEqual(
    anew.map(({ seq, resumedAfter }) => [seq, resumedAfter]),
    [[all.length, 1]],
  )
})

async function readSnapshot(at: LiveNode): Promise<ConversationSnapshot> {
  for await (const entry of at.follow()) if (entry.type === 'snapshot') return entry.snapshot
  assert.fail('nothing is told')
}

async function readSession({ node }: LiveNode): Promise<string | undefined> {
  const { id: agentId } = await node.agents.get('crab')
  return await node.stores.storage.activeSession({ agentId, sender: 'ann' })
}

function joinText(seen: readonly FollowEvent[]): string {
  return seen
    .map((told) => (told.type === 'event' && told.event.type === 'text' ? told.event.delta : ''))
    .join('')
}

test('a detached turn that fails before it starts, after its id was sent, is known with its error', async () => {
  await using at = await startLive([{ parts: ['yes'] }])
  await using storage = failFirstMessage(at)
  const run = await at.live.detach(at.request('go'))
  const { end } = await at.live.wait(run.id, NEVER)
  assert.deepEqual([end.stopReason, end.error?.message], ['failed', 'Cannot write: no space'])
  assert.deepEqual(at.live.running(), [])
  storage.mend()
  assert.equal((await Array.fromAsync(at.live.stream(at.request('on'), NEVER))).at(-1)?.event.type, 'end')
})

/** Makes storing first messages fail until it is repaired. */
function failFirstMessage({ node }: LiveNode): AsyncDisposable & { mend(): void } {
  const { storage } = node.stores
  const create = storage.createSession.bind(storage)
  storage.createSession = () => Promise.reject(new CrabError('storage', 'Cannot write: no space'))
  const mend = () => {
    storage.createSession = create
  }
  return { mend, [Symbol.asyncDispose]: async () => mend() }
}
