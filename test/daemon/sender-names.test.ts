import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main } from '../../src/commands/main.ts'
import { ClientMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, route } from '../../src/core/protocol/dispatch.ts'
import type { Operation } from '../../src/core/protocol/operations.ts'
import { CALLERS } from '../../src/daemon/handlers/callers.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'
import { makeTestHost } from '../support/test-host.ts'

const NEVER = new AbortController().signal
const UNPRINTABLE = [
  'telegram:1\0user',
  'tg:1\n',
  'tg:\x1b[31m1',
  'tg:1\u202e',
  'tg:1\u2028',
  'tg:\x85',
  'tg:4\u200b2',
  'tg:42 ',
]

test('every operation with a sender rejects unprintable characters with 400, for every client', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const remote = route(handlers(node.services, { kind: 'tcp', token: { name: 'tg' } }))
  const named = (Object.keys(CALLERS) as Operation[]).filter((operation) => 'sender' in createBody(operation))
  assert.ok(named.length >= 14, named.join(', '))
  for (const dispatch of [node.dispatch, remote]) {
    for (const operation of named) {
      if (dispatch === remote && CALLERS[operation] === 'local') continue // refused whatever it contains
      for (const sender of UNPRINTABLE) {
        const { code, message } = await readRefusal(dispatch, operation, sender)
        assert.equal(code, 400, `${operation} ${JSON.stringify(sender)}`)
        assert.match(
          message,
          /^Cannot use the sender ".*": it (has the (control )?character U\+|starts or ends with a space)/,
        )
      }
    }
  }
  const { agent } = await request(node.dispatch, 'send', { content: 'hi', sender: 'tg:Zoë 🦀' }, NEVER)
  assert.equal(agent, 'crab')
})

test('a stored conversation with such a sender is listed, read and deleted', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const sender = 'telegram:1\0user'
  const runtime = await node.services.runtime(NEVER)
  const turn = { agent: 'crab', sender, trust: 'remote', content: 'old', settings: {} } as const
  await Array.fromAsync(runtime.turn(turn, NEVER))
  const list = async () => (await request(node.dispatch, 'listConversations', {}, NEVER)).conversations
  assert.deepEqual((await list()).map((one) => one.sender).toSorted(), ['ann', sender])
  const { filePath: session } = (await list()).find((one) => one.sender === sender)!
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).sender, sender)
  const { messages } = await request(node.dispatch, 'listMessages', { session }, NEVER)
  assert.equal(messages[0]?.content, 'old')
  await request(node.dispatch, 'deleteConversation', { filePath: session }, NEVER)
  assert.deepEqual(
    (await list()).map((one) => one.sender),
    ['ann'],
  )
})

test('commands reject such a sender as a usage error', async () => {
  for (const words of [
    ['send', '-s', 'tg:1\n', 'hi'],
    ['policy', 'why', '-s', 'tg:1\n', 'bash(ls)'],
    ['conversation', 'list', '-s', 'tg:1\n'],
    ['conversation', 'kill', 'crab/tg:1\n'],
    ['attach', 'crab/tg:1\n'],
  ]) {
    await using host = await makeTestHost({ env: { CRABTALK_HOME: 'home' } })
    assert.equal(await main('crabtalk', words, host.host), 2, `${words.join(' ')}: ${host.stderr()}`)
    assert.match(host.stderr(), /Cannot use the sender "tg:1\ufffd": it has the control character U\+000A/)
  }
})

function createBody(operation: Operation): object {
  return ClientMessage.create({ msg: { $case: operation, value: {} } as never }).msg?.value ?? {}
}

async function readRefusal(dispatch: Dispatch, operation: Operation, sender: string) {
  const message = ClientMessage.create({ msg: { $case: operation, value: { sender } } as never })
  for await (const { msg } of dispatch(message, NEVER)) if (msg?.$case === 'error') return msg.value
  return { code: 0, message: '' }
}
