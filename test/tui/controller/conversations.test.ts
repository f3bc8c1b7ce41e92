import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { openShownChat } from '../../support/shown-chat.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal

test('a found conversation whose agent was deleted and made again is refused, and what is open goes on', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  const session = await makeOrphan(node)
  await using chat = await openShownChat([], { node, options: { agent: 'critic', sender: 'ann' } })
  chat.type('is this new?\r')
  await chat.see('is this new?', 'Yes.')
  chat.type('/search unicornword\r')
  await chat.see('Conversations: unicornword', '1')
  chat.type('\r')
  await chat.see('its agent "critic" was deleted', 'is a different agent', `conversation show ${session}`)
  chat.type('and on?\r')
  await chat.see('was deleted', 'and on?', 'Yes.')
  assert.doesNotMatch(chat.text(), /new conversation|continued|what was found/)
  await until('both messages are stored there', async () => (await messagesOf(node)) === '4,2')
})

test('a chat that begins with a conversation of an agent that was deleted and made again shows no other', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  const session = await makeOrphan(node)
  await using chat = await openShownChat([], { node, options: { session } })
  const hint = `crabtalk conversation show ${session} shows its messages`
  await assert.rejects(chat.done, {
    kind: 'missing',
    message: /"critic" was deleted, and .* different agent/,
    hint,
  })
})

test('a found conversation of an agent that was renamed goes on with that agent', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  await makeAgent(node)
  await node.ask('unicornword one', { agent: 'critic' })
  await request(node.dispatch, 'renameAgent', { oldName: 'critic', newName: 'judge' }, NEVER)
  await makeAgent(node)
  const [session = ''] = await sessionsOf(node)
  await using chat = await openShownChat([], { node, options: { session } })
  await chat.see('unicornword one', 'Yes.', 'continued')
  chat.type('and on?\r')
  await chat.see('and on?', 'Yes.')
  await until('both messages are stored there', async () => (await messagesOf(node)) === '4')
})

/** A conversation of an agent whose name another one has by now. */
async function makeOrphan(node: TestDispatch): Promise<string> {
  await makeAgent(node)
  await node.ask('unicornword one', { agent: 'critic' })
  await request(node.dispatch, 'deleteAgent', { name: 'critic' }, NEVER)
  await makeAgent(node)
  const [session = ''] = await sessionsOf(node)
  return session
}

async function makeAgent({ dispatch }: TestDispatch): Promise<void> {
  await request(dispatch, 'createAgent', { name: 'critic', config: '', prompt: 'You judge.' }, NEVER)
}

async function sessionsOf(node: TestDispatch): Promise<string[]> {
  return (await listed(node)).map(({ filePath }) => filePath)
}

/** How many there are in each conversation, the newest first. */
async function messagesOf(node: TestDispatch): Promise<string> {
  return (await listed(node)).map(({ messageCount }) => messageCount).join()
}

async function listed({ dispatch }: TestDispatch) {
  return (await request(dispatch, 'listConversations', {}, NEVER)).conversations
}
