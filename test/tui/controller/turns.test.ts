import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from '../../../src/tui/controller/turns.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import type { Block, ChatState } from '../../../src/tui/state/types.ts'
import { ChatStore } from '../../../src/tui/store.ts'
import { chatPorts } from '../../support/chat-ports.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'
import type { Script } from '../../support/model-server.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'

test('say() runs a turn and prints what comes', async () => {
  await using chat = await openTurns([{ parts: ['Hi there.'] }])
  chat.turns.say('hello')
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: hello', 'answer: Hi there.'])
})

test('say() reaches a turn that runs before its next model call', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openTurns([{ parts: ['One', gate.promise, '.'] }, { parts: ['Two.'] }])
  chat.turns.say('count')
  await chat.until(({ open }) => open !== undefined)
  chat.turns.say('go on')
  await chat.until(({ steers }) => steers.length === 1)
  gate.resolve()
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: count', 'answer: One.', 'user: go on', 'answer: Two.'])
  assert.equal(chat.turns.isBusy, false)
})

test('queue() sends when the running turn is over, in order', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openTurns([
    { parts: [gate.promise, 'One.'] },
    { parts: ['Two.'] },
    { parts: ['Three.'] },
  ])
  chat.turns.say('a')
  chat.turns.queue('b')
  chat.turns.queue('c')
  gate.resolve()
  await chat.idle()
  assert.deepEqual(chat.words(), [
    'user: a',
    'answer: One.',
    'user: b',
    'answer: Two.',
    'user: c',
    'answer: Three.',
  ])
})

test('interrupt() keeps what was said, and what was queued stands in the prompt again', async () => {
  await using chat = await openTurns([{ parts: ['Once upon', new Promise<void>(() => {})] }])
  chat.turns.say('tell me')
  await chat.until(({ open }) => open !== undefined)
  chat.turns.queue('and then?')
  chat.turns.interrupt()
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: tell me', 'answer: Once upon', 'notice: Interrupted'])
  assert.equal(chat.state().prompt.text, 'and then?')
})

test('a turn that cannot begin says why, and the next message is sent', async () => {
  await using chat = await openTurns([{ parts: ['Hi.'] }], { agent: 'nobody' })
  chat.turns.say('hello')
  await chat.idle()
  const last = chat.blocks().at(-1)
  assert.ok(last?.kind === 'notice' && last.tone === 'error' && /nobody/.test(last.text))
})

test('files that cannot be added are told, and the message goes out', async () => {
  const problems = ['Cannot add big.bin: it has 20 MiB']
  const expand = async (content: string) => ({ content, attachments: [], problems })
  await using chat = await openTurns([{ parts: ['Hi.'] }], {}, { expand })
  chat.turns.say('look at @big.bin')
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: look at @big.bin', `notice: ${problems[0]}`, 'answer: Hi.'])
})

test('context is told with the next message, once', async () => {
  await using chat = await openTurns(({ json }) => ({
    parts: [JSON.stringify((json['messages'] as unknown[]).at(-1))],
  }))
  chat.turns.addContext('<shell>made</shell>')
  chat.turns.say('what did I do?')
  await chat.idle()
  assert.match(chat.words().at(-1) ?? '', /<shell>made<\/shell>/)
  chat.turns.say('and now?')
  await chat.idle()
  assert.doesNotMatch(chat.words().at(-1) ?? '', /shell/)
})

async function openTurns(
  script: Script,
  options: Partial<typeof CHAT_OPTIONS> = {},
  ports: Partial<Parameters<typeof chatPorts>[1]> = {},
) {
  const node = await startTestDispatch(script)
  const store = new ChatStore(initialState({ ...CHAT_OPTIONS, ...options }))
  const over = new AbortController()
  const turns = new Turns({
    store,
    ports: chatPorts(node.dispatch, { cwd: node.home.paths.home, ...ports }),
    rules: CHAT_OPTIONS.rules,
    pasted: new Map(),
    signal: over.signal,
  })
  const until = async (isSo: (state: ChatState) => boolean) => {
    const gate = Promise.withResolvers<void>()
    const look = () => isSo(store.get()) && gate.resolve()
    const stop = store.subscribe(look)
    look()
    await gate.promise
    stop()
  }
  const blocks = (): Block[] => store.get().finished.map(({ block }) => block)
  return {
    turns,
    until,
    blocks,
    state: store.get,
    idle: () => until(({ turn, queue, steers }) => !turn && queue.length + steers.length === 0),
    words: () =>
      blocks().flatMap((block) => ('text' in block ? [`${block.kind}: ${block.text?.trim()}`] : [])),
    async [Symbol.asyncDispose]() {
      await turns.end()
      over.abort()
      store[Symbol.dispose]()
      await node[Symbol.asyncDispose]()
    },
  }
}
