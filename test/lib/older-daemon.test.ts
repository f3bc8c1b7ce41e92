import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { AgentEventKind, type Client, connect, OnAsk } from '../../src/lib/client.ts'
import { type FixedDaemonServer, startFixedDaemon } from '../support/fixed-daemon.ts'
import { temporaryHome } from '../support/temporary-home.ts'

interface Place extends AsyncDisposable {
  client: Client
  daemon: FixedDaemonServer
}

const OLDER = {
  kind: 'unavailable',
  message: /the process at unix:\S+ speaks an older protocol \(no hello\)$/,
}

async function startPlace(): Promise<Place> {
  const home = await temporaryHome()
  const daemon = await startFixedDaemon(join(home.paths.run, 'crabtalk.sock'))
  return {
    daemon,
    client: await connect({ home: home.paths.home }),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

test('a daemon without hello runs turns of the default agent, and returns lists page by page', async () => {
  await using at = await startPlace()
  const texts: string[] = []
  for await (const event of at.client.stream('hi')) {
    if (event.$case === 'chunk') texts.push(event.value.content)
  }
  assert.deepEqual(texts, ['You said: hi'])
  assert.equal(at.daemon.requests[0]?.value['agent'], 'crab')
  const { conversations, total } = await at.client.conversations({ offset: 1, limit: 1 })
  assert.deepEqual([conversations.map(({ sender }) => sender), total], [['two'], 3])
  await at.client.kill({ sender: 'ann' })
  assert.deepEqual(at.daemon.requests.at(-1), { name: 'kill', value: { agent: 'crab', sender: 'ann' } })
})

test('its questions reach onAsk, and are answered with no without one', async () => {
  await using at = await startPlace()
  const onAsk = () => ({ 'Which one?': 'Red' })
  assert.equal((await at.client.send('ask me', { onAsk })).content, '{"Which one?":"Red"}')
  const silent = await Array.fromAsync(at.client.stream('ask me'))
  const text = silent.flatMap((event) => (event.$case === 'chunk' ? [event.value.content] : [])).join('')
  assert.match(text, /^The user cannot be asked/)
  const failing = Array.fromAsync(at.client.stream('ask me', { options: { onAsk: OnAsk.FAIL } }))
  await assert.rejects(failing, { kind: 'denied' })
})

for (const [what, ask] of Object.entries<(client: Client) => Promise<unknown>>({
  'an operation that it does not know': (client) => client.messages('one'),
  'a turn in another mode': (client) => Array.fromAsync(client.stream('hi', { options: { mode: 3 } })),
  'a turn with rules': (client) => Array.fromAsync(client.stream('hi', { options: { deny: ['bash'] } })),
  'a turn that goes on alone': (client) => Array.fromAsync(client.stream('hi', { detach: true })),
  'conversations of one directory': (client) => client.conversations({ cwd: '/' }),
  'a question for another client': (client) =>
    Array.fromAsync(client.stream('hi', { options: { onAsk: OnAsk.PARK } })),
})) {
  test(`${what} is rejected before the daemon without hello receives it`, async () => {
    await using at = await startPlace()
    await assert.rejects(ask(at.client), OLDER)
    assert.deepEqual(at.daemon.requests, [])
  })
}

test('subscribe() yields the requested kinds', async () => {
  await using at = await startPlace()
  for await (const { kind, sender } of at.client.subscribe([AgentEventKind.DONE])) {
    assert.deepEqual([kind, sender], [AgentEventKind.DONE, 'ann'])
    break
  }
})
