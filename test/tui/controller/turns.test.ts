import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestChat } from '../../support/open-chat.ts'

test('say() runs a turn and prints its output', async () => {
  await using chat = await openTestChat([{ parts: ['Hi there.'] }])
  chat.controller.turns.say('hello')
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: hello', 'answer: Hi there.'])
})

test('say() steers a running turn before its next model call', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openTestChat([{ parts: ['One', gate.promise, '.'] }, { parts: ['Two.'] }])
  chat.controller.turns.say('count')
  await chat.until(({ open }) => open !== undefined)
  chat.controller.turns.say('go on')
  await chat.until(({ steers }) => steers.length === 1)
  gate.resolve()
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: count', 'answer: One.', 'user: go on', 'answer: Two.'])
  assert.equal(chat.controller.turns.isBusy, false)
})

test('queue() sends messages in order when the running turn is over', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openTestChat([
    { parts: [gate.promise, 'One.'] },
    { parts: ['Two.'] },
    { parts: ['Three.'] },
  ])
  chat.controller.turns.say('a')
  chat.controller.turns.queue('b')
  chat.controller.turns.queue('c')
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

test('interrupt() keeps the partial answer, and puts queued messages back into the prompt', async () => {
  await using chat = await openTestChat([{ parts: ['Once upon', new Promise<void>(() => {})] }])
  chat.controller.turns.say('tell me')
  await chat.until(({ open }) => open !== undefined)
  chat.controller.turns.queue('and then?')
  chat.controller.turns.interrupt()
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: tell me', 'answer: Once upon', 'notice: Interrupted'])
  assert.equal(chat.state().prompt.text, 'and then?')
})

test('leave() waits until the message is delivered, and an abort ends the wait', async () => {
  const gate = Promise.withResolvers<void>()
  const expand = async (content: string) => {
    await gate.promise
    return { content, attachments: [], problems: [] }
  }
  await using chat = await openTestChat([{ parts: ['Hi.'] }], { ports: { expand } })
  chat.controller.turns.say('hello')
  const stop = new AbortController()
  const leaving = chat.controller.turns.leave(stop.signal)
  stop.abort()
  await assert.rejects(leaving, { kind: 'cancelled' })
  gate.resolve()
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: hello', 'answer: Hi.'])
})

test('a turn that cannot start says why, and the next message is sent', async () => {
  await using chat = await openTestChat([{ parts: ['Hi.'] }], { options: { agent: 'nobody' } })
  chat.controller.turns.say('hello')
  await chat.idle()
  const last = chat.blocks().at(-1)
  assert.ok(last?.kind === 'notice' && last.tone === 'error' && /nobody/.test(last.text))
})

test('files that cannot be attached are reported, and the message is sent', async () => {
  const problems = ['Cannot add big.bin: it has 20 MiB']
  const expand = async (content: string) => ({ content, attachments: [], problems })
  await using chat = await openTestChat([{ parts: ['Hi.'] }], { ports: { expand } })
  chat.controller.turns.say('look at @big.bin')
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: look at @big.bin', `notice: ${problems[0]}`, 'answer: Hi.'])
})

test('context is sent with the next message, once', async () => {
  await using chat = await openTestChat(({ json }) => ({
    parts: [JSON.stringify((json['messages'] as unknown[]).at(-1))],
  }))
  chat.controller.turns.addContext('<shell>made</shell>')
  chat.controller.turns.say('what did I do?')
  await chat.idle()
  assert.match(chat.words().at(-1) ?? '', /<shell>made<\/shell>/)
  chat.controller.turns.say('and now?')
  await chat.idle()
  assert.doesNotMatch(chat.words().at(-1) ?? '', /shell/)
})

test('a conversation is named after its first message, by a model only with titles = model', async () => {
  await using chat = await openTestChat([{ parts: ['Hi.'] }, { parts: ['Crabs of the north'] }])
  chat.controller.turns.say('Tell me about crabs. And owls.')
  await chat.idle()
  assert.equal(chat.state().title, 'Tell me about crabs')
  await using other = await openTestChat([{ parts: ['Hi.'] }, { parts: ['Crabs of the north'] }])
  other.configure({ titles: 'model' })
  other.controller.turns.say('Tell me about crabs. And owls.')
  await other.until(({ title }) => title === 'Crabs of the north')
})

test('the share of the settings decides when a conversation is compacted; 0 means never', async () => {
  const usage = { input: 900, output: 0 }
  const reply = { parts: ['yes'], usage }
  await using chat = await openTestChat(() => reply)
  const provider = `name = "p"\nkind = "openai-compatible"\nbase_url = "${chat.node.server.url}"`
  const models = 'models = [{ name = "scripted", context = 1000 }]'
  await chat.node.home.write('config.toml', `model = "scripted"\n[[providers]]\n${provider}\n${models}\n`)
  chat.configure({ compactAt: 0 })
  for (const text of ['one', 'two']) {
    chat.controller.turns.say(text)
    await chat.idle()
  }
  assert.equal(chat.node.server.requests.length, 2)
  chat.configure({ compactAt: 0.85 })
  chat.controller.turns.say('three')
  await chat.idle()
  assert.equal(chat.node.server.requests.length, 4)
  assert.ok(chat.words().some((words) => words.includes('Compacted: ')))
})
