import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { chooseSender } from '../../../src/commands/send/run.ts'
import { ConversationInfo, SessionInfo } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { type SendTest, startSendTest } from '../../support/run-send.ts'
import { toSentLines } from '../../support/test-node.ts'

test('send starts a new conversation each time', async () => {
  await using at = await startSendTest(() => ({ parts: ['yes'] }))
  const senders = [await readSender(at, 'one'), await readSender(at, 'two')]
  for (const sender of senders) assert.match(sender, /^sh:[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
  assert.notEqual(senders[0], senders[1])
  assert.deepEqual(toSentLines(at.server.requests[1]), ['user: two'])
})

test('send -s continues the conversation of that name, which belongs to the agent', async () => {
  await using at = await startSendTest(() => ({ parts: ['yes'] }))
  await at.run('agent', 'create', 'critic')
  await at.run('send', '-s', 'notes', 'one')
  await at.run('send', '-s', 'notes', '-a', 'critic', 'other')
  assert.equal(await readSender(at, '-s', 'notes', 'two'), 'notes')
  assert.deepEqual(toSentLines(at.server.requests[1]), ['user: other'])
  assert.deepEqual(toSentLines(at.server.requests[2]), ['user: one', 'assistant: yes', 'user: two'])
})

test('send -c continues the last conversation of the agent in this directory', async () => {
  await using at = await startSendTest(() => ({ parts: ['yes'] }))
  await at.run('send', '-s', 'notes', 'one')
  const fresh = await readSender(at, 'two')
  assert.equal(await readSender(at, '-c', 'three'), fresh)
  await at.run('send', '-s', 'notes', 'four')
  assert.equal(await readSender(at, '-c', 'five'), 'notes')
  await at.run('agent', 'create', 'critic')
  const { code, stderr } = await at.run('send', '-c', '-a', 'critic', 'six')
  assert.equal(code, 1)
  assert.match(stderr, /error\[missing\]: Cannot continue: no conversation of critic in .+ exists/)
})

test('send -c does not continue conversations of other sources', async () => {
  await using at = await startSendTest(() => ({ parts: ['yes'] }))
  await at.run('send', '-s', 'tg:12345', 'one')
  assert.equal((await at.run('send', '-c', 'two')).code, 1)
  await using elsewhere = await startSendTest(() => ({ parts: ['yes'] }), {
    cwd: '/',
    env: { CRABTALK_HOME: join(at.at.folder, 'home') },
  })
  await elsewhere.run('send', 'three')
  assert.equal((await at.run('send', '-c', 'four')).code, 1)
})

test('send -c finds a conversation beyond the first page', async () => {
  const all = ['tg:1', 'tg:2', 'tg:3', 'notes'].map((sender) =>
    ConversationInfo.create({ sender, cwd: '/work' }),
  )
  const dispatch = route({
    listConversations: async ({ offset }) => ({
      conversations: all.slice(offset, offset + 2),
      total: all.length,
    }),
    activateSession: async () => SessionInfo.create(),
  })
  const settings = { target: { kind: 'last' }, fork: false, agent: 'crab' } as const
  const at = { settings, cwd: '/work', newSender: () => 'new' }
  assert.equal(await chooseSender(at, dispatch, new AbortController().signal), 'notes')
})

test('send --fork continues in a copy and leaves the original unchanged', async () => {
  await using at = await startSendTest(() => ({ parts: ['yes'] }))
  await at.run('send', '-s', 'notes', 'one')
  await at.run('send', '-s', 'later', 'other')
  const { sender, session } = await readResult(at, '-s', 'notes', '--fork', 'two')
  assert.equal(sender, 'notes')
  assert.deepEqual(toSentLines(at.server.requests[2]), ['user: one', 'assistant: yes', 'user: two'])
  const { stdout } = await at.run('conversation', 'list', '--sender', 'notes', '--json')
  const rows = JSON.parse(stdout) as { id: string; messages: number }[]
  assert.deepEqual(
    rows.map(({ id, messages }) => [id === session, messages]),
    [
      [true, 4],
      [false, 2],
    ],
  )
  assert.equal((await readResult(at, '-c', 'three')).session, session)
})

test('send --fork fails without a conversation to copy', async () => {
  await using at = await startSendTest([])
  const { code, stderr } = await at.run('send', '-s', 'none', '--fork', 'hi')
  assert.equal(code, 1)
  assert.match(stderr, /no conversation named "none" exists/)
})

test('send --no-save leaves nothing to continue', async () => {
  await using at = await startSendTest(() => ({ parts: ['yes'] }))
  assert.equal((await at.run('send', '--no-save', 'hi')).code, 0)
  assert.equal((await at.run('send', '-c', 'hi')).code, 1)
})

async function readResult(at: SendTest, ...argv: string[]): Promise<{ sender: string; session: string }> {
  const { stdout, stderr } = await at.run('send', '--output', 'json', ...argv)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

async function readSender(at: SendTest, ...argv: string[]): Promise<string> {
  return (await readResult(at, ...argv)).sender
}
