import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Channel } from '../../src/core/policy/trust.ts'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import type { Operation } from '../../src/core/protocol/operations.ts'
import { CALLERS, guarded } from '../../src/daemon/handlers/callers.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const CHANNELS: readonly Channel[] = ['process', 'local', 'tcp']
const SENDERS = ['', 'ann', 'sh:1', 'cron', 'event:x', 'telegram:42', 'delegate:1']
const OPERATIONS = Object.keys(CALLERS) as Operation[]

/** Channels by whom an operation of that kind is served, of each sender. */
const SERVED: Record<string, (sender: string) => readonly Channel[]> = {
  anyone: () => CHANNELS,
  local: () => ['process', 'local'],
  pair: (sender) => (sender === 'telegram:42' ? CHANNELS : ['process', 'local']),
}

test('guarded() serves each operation to those who may ask for it, and nobody else', async () => {
  for (const operation of OPERATIONS) {
    for (const channel of CHANNELS) {
      const guard = guarded({ [operation]: async () => 'done' }, channel)
      for (const sender of SENDERS) {
        const ask = async () => (guard[operation] as unknown as Ask)({ sender }, NEVER)
        const isServed = SERVED[CALLERS[operation]]!(sender).includes(channel)
        if (isServed) assert.equal(await ask(), 'done', `${operation} ${channel} ${sender}`)
        else await assert.rejects(ask, { kind: 'denied' }, `${operation} ${channel} ${sender}`)
      }
    }
  }
})

test('no stranger may ask for what changes a conversation, an agent, a server or the configuration', () => {
  const changing = OPERATIONS.filter((name) => /^(create|update|rename|delete|set|upsert|replace)/.test(name))
  assert.equal(changing.length, 11)
  for (const name of changing) assert.equal(CALLERS[name], 'local', name)
})

test('a stranger over TCP changes nothing, and is told why', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const before = await snapshot(node)
  const strange = route(handlers(node.services, 'tcp'))
  const { conversations } = await request(strange, 'listConversations', {}, NEVER)
  const body = { ...PAIR, session: conversations[0]!.filePath, name: 'crab', title: 'x', model: 'other' }
  const refused = OPERATIONS.filter(
    (name) => CALLERS[name] !== 'anyone' && name in handlers(node.services, 'tcp'),
  )
  for (const operation of refused) {
    await assert.rejects(
      request(strange, operation as 'compact', body, NEVER),
      { kind: 'denied', message: /^Cannot serve [a-z_]+: only somebody at this machine may do that$/ },
      operation,
    )
  }
  assert.deepEqual(
    refused,
    OPERATIONS.filter((name) => CALLERS[name] !== 'anyone' && name !== 'extension'),
  )
  assert.deepEqual(await snapshot(node), before)
})

test('a stranger over TCP stops no turn of a person at this machine', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  const strange = route(handlers(node.services, 'tcp'))
  const events: string[] = []
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go' }, NEVER)) {
    events.push(event!.$case)
    if (event?.$case !== 'chunk') continue
    await assert.rejects(request(strange, 'kill', PAIR, NEVER), { kind: 'denied' })
    await request(node.dispatch, 'kill', PAIR, NEVER)
  }
  assert.equal(events.at(-1), 'end')
})

test('a pair from elsewhere begins anew and stops its own turn', async () => {
  await using node = await startTestDispatch([{ parts: ['Half'], end: 'hang' }])
  const strange = route(handlers(node.services, 'tcp'))
  const pair = { agent: 'crab', sender: 'telegram:42' }
  for await (const { event } of streamTurn(strange, { ...pair, content: 'go' }, NEVER)) {
    if (event?.$case === 'chunk') await request(strange, 'kill', pair, NEVER)
  }
  assert.equal((await request(strange, 'newSession', pair, NEVER)).active, true)
})

const PAIR = { agent: 'crab', sender: 'ann' }

type Ask = (message: object, signal: AbortSignal) => unknown

/** What a stranger could have changed. */
async function snapshot({ home, dispatch }: TestDispatch) {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  const session = await request(dispatch, 'getSession', PAIR, NEVER)
  const agents = await readdir(join(home.paths.home, 'agents'))
  const files = [...agents.map((name) => `agents/${name}`), 'config.toml']
  const texts = await Promise.all(files.map((file) => home.read(file)))
  return { files, texts, session, count: conversations.length, stored: await readdir(home.paths.sessions) }
}
