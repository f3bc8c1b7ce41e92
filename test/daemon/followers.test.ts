import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attach, AttachState, DeepPartial } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany, route } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { nodeOptions, startTestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const WINDOW = { ...PAIR, window: true }

/** A client that follows a pair and keeps the states it received. */
interface Follower {
  states: AttachState[]
  /** Leaves, and resolves when the daemon has noticed it. */
  leave(): Promise<void>
}

async function follow(dispatch: Dispatch, message: DeepPartial<Attach>): Promise<Follower> {
  const stop = new AbortController()
  const states: AttachState[] = []
  const first = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const { event } of requestMany(dispatch, 'attach', message, stop.signal)) {
      if (event?.$case === 'state') states.push(event.value)
      first.resolve()
    }
  })()
  reading.catch(first.reject)
  await first.promise
  return {
    states,
    async leave() {
      stop.abort()
      await reading.catch(() => undefined)
    },
  }
}

const counts = ({ states }: Follower) => states.map(({ followers }) => followers)

test('attach reports the number of followers of a pair, and to windows again whenever it changes', async () => {
  await using node = await startTestDispatch([])
  const one = await follow(node.dispatch, WINDOW)
  const other = await follow(node.dispatch, { ...PAIR, sender: 'bob' })
  const two = await follow(node.dispatch, PAIR)
  await until('the first knows the second', () => counts(one).at(-1) === 2)
  assert.deepEqual([counts(one), counts(two), counts(other)], [[1, 2], [2], [1]])
  await two.leave()
  await until('the first is alone again', () => counts(one).at(-1) === 1)
  assert.deepEqual([counts(one), counts(two)], [[1, 2, 1], [2]])
  await other.leave()
  await one.leave()
})

test('an exclusive attach is refused while a window follows the pair, but not because of other clients', async () => {
  await using node = await startTestDispatch([])
  const watching = await follow(node.dispatch, PAIR)
  const first = await follow(node.dispatch, { ...WINDOW, exclusive: true })
  const refused = { kind: 'conflict', message: /another window has it open/ }
  await assert.rejects(follow(node.dispatch, { ...WINDOW, exclusive: true }), refused)
  const shared = await follow(node.dispatch, WINDOW)
  assert.equal(counts(shared).at(-1), 3)
  await first.leave()
  await shared.leave()
  const again = await follow(node.dispatch, { ...WINDOW, exclusive: true })
  await again.leave()
  await watching.leave()
})

test('only one of many windows that open at the same moment gets a pair alone', async () => {
  await using node = await startTestDispatch([])
  const opened = await Promise.allSettled(
    Array.from({ length: 8 }, () => follow(node.dispatch, { ...WINDOW, exclusive: true })),
  )
  const won = opened.filter((one) => one.status === 'fulfilled')
  assert.equal(won.length, 1)
  await won[0]!.value.leave()
})

test('a window of another process of the home counts, and keeps others from the pair, until it leaves', async () => {
  await using node = await startTestDispatch([])
  await using second = compose(nodeOptions(node.home))
  const elsewhere = route(handlers(second, 'process'))
  const first = await follow(node.dispatch, WINDOW)
  await assert.rejects(follow(elsewhere, { ...WINDOW, exclusive: true }), { kind: 'conflict' })
  const shared = await follow(elsewhere, WINDOW)
  assert.equal(counts(shared).at(-1), 2)
  await shared.leave()
  await first.leave()
  const alone = await follow(elsewhere, { ...WINDOW, exclusive: true })
  assert.deepEqual(counts(alone), [1])
  await alone.leave()
})

test('list_conversations reports the windows, the running turn and the questions of a conversation', async () => {
  const gate = Promise.withResolvers<void>()
  await using node = await startTestDispatch([{ parts: ['yes'] }, { parts: ['two', gate.promise] }])
  await node.ask('one')
  const list = async () => {
    const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
    return conversations.map(({ windows, running, asks }) => [windows, running, asks])
  }
  assert.deepEqual(await list(), [[0, false, 0]])
  const window = await follow(node.dispatch, WINDOW)
  const turn = node.ask('two')
  await until('the turn runs', () => window.states.at(-1)?.runId !== '')
  assert.deepEqual(await list(), [[1, true, 0]])
  gate.resolve()
  await turn
  await window.leave()
  assert.deepEqual(await list(), [[0, false, 0]])
})

test('attach says that the last turn never ended, when nothing runs it any more', async () => {
  await using node = await startTestDispatch([{ parts: ['yes'] }, { parts: ['no'], end: 'hang' }])
  await node.ask('one')
  const unfinished = async () => {
    const follower = await follow(node.dispatch, PAIR)
    await follower.leave()
    return follower.states[0]?.unfinished
  }
  assert.equal(await unfinished(), false)
  const { id } = await request(node.dispatch, 'getSession', PAIR, NEVER)
  const { storage } = node.services.stores
  const { cursor } = await storage.read(id)
  const end = await storage.append(id, cursor, [{ kind: 'entry', role: 'user', content: 'and then?' }])
  assert.equal(await unfinished(), true)
  await using _turn = await node.services.stores.leases.take(`turn:${id}`, NEVER)
  assert.equal(await unfinished(), false, 'another process may be running it')
  await _turn[Symbol.asyncDispose]()
  const done = {
    kind: 'event',
    event: 'done',
    model: 'm',
    usage: undefined,
    stop_reason: 'cancelled',
  } as const
  await storage.append(id, end, [done])
  assert.equal(await unfinished(), false)
})

test('fork_session with a sender makes the copy a conversation of its own', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const { id: session } = await request(node.dispatch, 'getSession', PAIR, NEVER)
  const copy = await request(node.dispatch, 'forkSession', { session, sender: 'sh:copy' }, NEVER)
  assert.deepEqual(
    [copy.sender, copy.agent, copy.forkedFrom, copy.active],
    ['sh:copy', 'crab', session, true],
  )
  assert.equal((await request(node.dispatch, 'getSession', PAIR, NEVER)).id, session, 'the pair continues')
  await node.ask('two', { sender: 'sh:copy' })
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).messageCount, 2)
  await assert.rejects(request(node.dispatch, 'forkSession', { session, sender: 'a\nb' }, NEVER), {
    kind: 'invalid',
  })
})

test('fork_session keeps the sender of a conversation that is not local, so that the copy has no more rights', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const pair = { agent: 'crab', sender: 'tg:42' }
  await node.ask('one', pair)
  const { id: session } = await request(node.dispatch, 'getSession', pair, NEVER)
  const copy = await request(node.dispatch, 'forkSession', { session, sender: 'sh:copy' }, NEVER)
  assert.equal(copy.sender, 'tg:42')
})
