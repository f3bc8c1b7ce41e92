import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Dispatch, request } from '../../../src/core/protocol/dispatch.ts'
import { openShownChat } from '../../support/shown-chat.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal

test('a found conversation of a deleted and recreated agent is refused, and the open one stays', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  const session = await createOrphan(node)
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
  await until('both messages are stored there', async () => (await countMessages(node)) === '4,2')
})

test('a chat that opens a conversation of a deleted and recreated agent shows no other one', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  const session = await createOrphan(node)
  await using chat = await openShownChat([], { node, options: { session } })
  const hint = `crabtalk conversation show ${session} shows its messages`
  await assert.rejects(chat.done, {
    kind: 'missing',
    message: /"critic" was deleted, and .* different agent/,
    hint,
  })
})

test('a found conversation of a renamed agent continues with that agent', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  await makeAgent(node)
  await node.ask('unicornword one', { agent: 'critic' })
  await request(node.dispatch, 'renameAgent', { oldName: 'critic', newName: 'judge' }, NEVER)
  await makeAgent(node)
  const [session = ''] = await listSessions(node)
  await using chat = await openShownChat([], { node, options: { session } })
  await chat.see('unicornword one', 'Yes.', 'continued')
  chat.type('and on?\r')
  await chat.see('and on?', 'Yes.')
  await until('both messages are stored there', async () => (await countMessages(node)) === '4')
})

/** Creates a conversation of an agent whose name now belongs to another one. */
async function createOrphan(node: TestDispatch): Promise<string> {
  await makeAgent(node)
  await node.ask('unicornword one', { agent: 'critic' })
  await request(node.dispatch, 'deleteAgent', { name: 'critic' }, NEVER)
  await makeAgent(node)
  const [session = ''] = await listSessions(node)
  return session
}

async function makeAgent({ dispatch }: TestDispatch): Promise<void> {
  await request(dispatch, 'createAgent', { name: 'critic', config: '', prompt: 'You judge.' }, NEVER)
}

async function listSessions(node: TestDispatch): Promise<string[]> {
  return (await listConversations(node)).map(({ filePath }) => filePath)
}

/** Returns the number of messages in each conversation, the newest first. */
async function countMessages(node: TestDispatch): Promise<string> {
  return (await listConversations(node)).map(({ messageCount }) => messageCount).join()
}

async function listConversations({ dispatch }: TestDispatch) {
  return (await request(dispatch, 'listConversations', {}, NEVER)).conversations
}

test('the last conversation of a directory becomes the active one only after its window is the only one', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Yes.'] }))
  const cwd = node.home.paths.home
  await node.ask('the last words', { cwd })
  await request(node.dispatch, 'newSession', { agent: 'crab', sender: 'ann', cwd: '/' }, NEVER)
  const operations: string[] = []
  const between = (dispatch: Dispatch): Dispatch => {
    return (message, signal) => {
      const { $case = '' } = message.msg ?? {}
      if (/^attach|^activate/.test($case)) operations.push($case)
      return dispatch(message, signal)
    }
  }
  const options = { window: { person: 'ann' }, sender: 'sh:1' }
  await using chat = await openShownChat([], { node, between, options })
  await chat.see('▌ the last words', 'Yes.', 'continued')
  assert.doesNotMatch(chat.text(), /another window/)
  assert.deepEqual(operations, ['attach', 'activateSession', 'attach'])
})
