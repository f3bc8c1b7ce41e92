import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { request } from '../../src/core/protocol/dispatch.ts'
import { makeVirtualTerminal } from '../support/screen.ts'
import { chooseDigit, openShownChat } from '../support/shown-chat.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const CALL = { call: 'c1', name: 'bash', args: '{"command":"touch ran"}' }

test('the first write shows the welcome and the prompt, and the components change nothing of it', async () => {
  await using chat = await openShownChat([], { options: { model: 'big', color: true } })
  const shown = (bytes: string) => stripVTControlCharacters(bytes).trim()
  assert.match(shown(chat.writes()[0]!), /^crabtalk.*> Ask anything.* · big · /s)
  await until('Ink has drawn its frame', () => chat.writes().some((bytes) => bytes.includes('?2004h')))
  const later = chat.writes().slice(1)
  const isRunning = later.findIndex((bytes) => bytes.includes('?2004h'))
  assert.equal(shown(later.slice(0, isRunning).join('')), '')
})

test('no frame shows a sent message both in the composer and above it', async () => {
  const texts = ['one', 'two', 'three']
  await using chat = await openShownChat(texts.map(() => ({ parts: ['Fine.'] })))
  await chat.see('Ask anything')
  for (const text of texts) {
    chat.type(text)
    while (!chat.writes().at(-1)!.includes(`> ${text}`)) await new Promise(setImmediate)
    chat.type('\r') // right after a frame, when Ink delays the next one
    await chat.see(`▌ ${text}`, 'Fine.', 'Ask anything')
  }
  using replay = makeVirtualTerminal()
  for (const write of chat.writes()) {
    await replay.feed(write.replaceAll(/(?<!\r)\n/g, '\r\n'))
    const lines = replay.lines()
    for (const text of texts) {
      const places = lines.filter((line) => line === `▌ ${text}` || line === `> ${text}`)
      assert.ok(places.length <= 1, lines.join('\n'))
    }
  }
})

test('keys that are typed before the first frame reach the prompt', async () => {
  await using chat = await openShownChat([{ parts: ['Heard.'] }])
  chat.type('hello\r')
  await chat.see('hello', 'Heard.')
})

test('a chat that is opened without a conversation to resume lists them, and Enter opens one', async () => {
  await using node = await startTestDispatch([{ parts: ['Nineteen.'] }])
  await node.ask('count the crabs')
  await using chat = await openShownChat([], { node, options: { fresh: true, picks: true, sender: 'bob' } })
  await chat.see('Conversations of crab', 'count the crabs')
  assert.doesNotMatch(chat.text(), /Nineteen/)
  chat.type('\r')
  await chat.see('▌ count the crabs', 'Nineteen.', 'continued')
})

test('lines that the terminal does not mark as a paste are pasted, not sent one by one', async () => {
  await using chat = await openShownChat([{ parts: ['Heard.'] }])
  chat.type('first line\rsecond line\r')
  await chat.see('first line', 'second line')
  assert.equal(chat.node.server.requests.length, 0)
  chat.type('\r')
  await chat.see('Heard.')
  assert.match(chat.node.server.requests[0]!.text, /first line\\nsecond line/)
})

test('an arrow key that arrives in two pieces does not interrupt the turn', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openShownChat([{ parts: ['One.\n\n', gate.promise, 'Two.'] }])
  chat.type('go\r')
  await chat.see('One.')
  chat.type('\u001b')
  await new Promise(setImmediate)
  chat.type('[A')
  await chat.see('> go') // Up: the sent message
  gate.resolve()
  await chat.see('Two.')
  assert.doesNotMatch(chat.text(), /Interrupted/)
})

test('output that arrives while an editor has the terminal is printed when the editor ends', async () => {
  const gate = Promise.withResolvers<void>()
  const editing = Promise.withResolvers<undefined>()
  await using chat = await openShownChat([{ parts: ['One.\n\n', gate.promise, 'Two.\n\n', 'Three.'] }], {
    ports: { editText: () => editing.promise },
  })
  chat.type('go\r')
  await chat.see('One.')
  chat.type('\x07')
  gate.resolve()
  await chat.node.server.requests[0]!.done
  editing.resolve(undefined)
  await chat.see('One.', 'Two.', 'Three.')
})

for (const kind of ['answer', 'thinking'] as const) {
  test(`a long ${kind} that arrives in one chunk is printed whole, in order and in slices`, async () => {
    const text = Array.from({ length: 3000 }, (_, at) => `Line ${at} of a long text.\n\n`).join('')
    const gate = Promise.withResolvers<void>()
    const part = kind === 'answer' ? text : { thinking: text }
    await using chat = await openShownChat([{ parts: [part, gate.promise, 'The end.'] }])
    chat.type('/details\r')
    await chat.see('details on')
    chat.type('go\r')
    await chat.see('Line 2999 of')
    gate.resolve()
    await chat.see('The end.')
    const readNumbers = (shown: string) => [...shown.matchAll(/Line (\d+) of/g)].map(([, at]) => Number(at))
    assert.deepEqual(readNumbers(chat.text()), [...Array(3000).keys()])
    const written = chat.writes().map((bytes) => readNumbers(stripVTControlCharacters(bytes)).length)
    assert.ok(Math.max(...written) < 1500, `${Math.max(...written)} lines in one write`)
  })
}

test('a question that opens while an editor has the terminal is not answered by the next key', async () => {
  const gate = Promise.withResolvers<void>()
  const editing = Promise.withResolvers<undefined>()
  await using chat = await openShownChat([{ parts: ['Now.', gate.promise, CALL] }, { parts: ['Done.'] }], {
    ports: { editText: () => editing.promise },
  })
  chat.type('go\r')
  await chat.see('Now.')
  chat.type('\x07')
  gate.resolve()
  await chat.node.server.requests[0]!.done
  editing.resolve(undefined)
  await chat.see('Run a command')
  chat.type('1\r')
  await chat.see('Press Enter again to answer 1')
  assert.equal(chat.node.server.requests.length, 1)
})

test('keys that arrive in one piece do not answer a question: they are a paste', async () => {
  await using chat = await openShownChat([{ parts: [CALL] }, { parts: ['Done.'] }])
  chat.type('go\r')
  await chat.see('Run a command')
  await chat.see('A digit or arrows')
  chat.type('some log\r1\rmore\r')
  await chat.see('some log', '1', 'more')
  assert.doesNotMatch(chat.text(), /next:/)
  assert.equal(chat.node.server.requests.length, 1)
  assert.doesNotMatch(chat.text(), /✓ Run/)
})

test('a digit and Enter, each after a pause, answer', async () => {
  await using chat = await openShownChat([{ parts: [CALL] }, { parts: ['Done.'] }])
  chat.type('go\r')
  await chat.see('❯ 4  No')
  await chooseDigit(chat, '1')
  await chat.see('✓ Run', 'Done.')
})

test('a message that is typed while a conversation opens goes to that conversation', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Noted.'] }))
  await node.ask('first')
  const { conversations } = await request(
    node.dispatch,
    'listConversations',
    { agent: 'crab', sender: 'ann' },
    NEVER,
  )
  const first = conversations[0]!.filePath
  await request(
    node.dispatch,
    'newSession',
    { agent: 'crab', sender: 'ann', cwd: node.home.paths.home },
    NEVER,
  )
  await node.ask('second')
  const gate = Promise.withResolvers<void>()
  await using chat = await openShownChat([], {
    node,
    options: { session: first },
    between: (dispatch) =>
      async function* slowly(message, signal) {
        if (message.msg?.$case === 'getSession') await gate.promise
        yield* dispatch(message, signal)
      },
  })
  chat.type('meant for the first\r')
  gate.resolve()
  await chat.see('first', 'Noted.', 'meant for the first', 'Noted.')
  const { messages } = await request(
    node.dispatch,
    'listMessages',
    { session: first, offset: 0, limit: 0 },
    NEVER,
  )
  assert.deepEqual(
    messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    ['first', 'meant for the first'],
  )
})

test('the chat asks for the models once when it starts', async () => {
  let count = 0
  await using chat = await openShownChat([{ parts: ['Noted.'] }], {
    between: (dispatch) =>
      async function* counted(message, signal) {
        if (message.msg?.$case === 'listModels') count++
        yield* dispatch(message, signal)
      },
  })
  chat.type('hello\r')
  await chat.see('Noted.')
  assert.equal(count, 1)
})

test('a missing conversation ends the chat, and nothing is sent', async () => {
  await using chat = await openShownChat([{ parts: ['No.'] }], {
    options: { session: 'nosuch', prompt: 'hello' },
  })
  await assert.rejects(chat.done, { kind: /missing|invalid/ })
  assert.equal(chat.node.server.requests.length, 0)
})

test('the partial answer is on the screen after the chat is left', async () => {
  await using chat = await openShownChat([{ parts: ['Still open wor', new Promise<void>(() => {})] }])
  chat.type('go\r')
  await chat.see('Still open wor')
  chat.type('\x04')
  await chat.see('A turn is running in this process')
  chat.type('\x04')
  await chat.done
  await chat.terminal.settled()
  assert.match(chat.text(), /Still open wor/)
  assert.match(chat.text(), /Interrupted/)
})

test('Esc stops a turn as soon as it starts', async () => {
  const requested = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  await using chat = await openShownChat([{ parts: ['Once', new Promise<void>(() => {})] }], {
    between: (dispatch) =>
      async function* slowly(message, signal) {
        if (message.msg?.$case === 'send') {
          requested.resolve()
          await gate.promise
        }
        yield* dispatch(message, signal)
      },
  })
  chat.type('go\r')
  await requested.promise
  chat.type('\x1b')
  await chat.see('stopping')
  gate.resolve()
  await chat.see('go', 'Interrupted')
  await chat.gone('stopping')
  assert.doesNotMatch(chat.text(), /Cannot/)
})

test('a chat on a daemon leaves its turn running when it is left', async () => {
  const gate = Promise.withResolvers<void>()
  const connect = async () => ({ place: 'daemon', instance: '1', notes: [] }) as const
  await using chat = await openShownChat([{ parts: ['Still open', gate.promise, ' to the end.'] }], {
    ports: { connect },
  })
  chat.type('go\r')
  await chat.see('Still open')
  chat.type('\x04')
  await chat.done
  await chat.terminal.settled()
  assert.match(chat.text(), /Still open[\s\S]*The turn continues without this window/)
  gate.resolve()
  await until('the answer is stored', async () => {
    const { conversations } = await request(chat.node.dispatch, 'listConversations', {}, NEVER)
    const session = conversations[0]!.filePath
    const { messages } = await request(chat.node.dispatch, 'listMessages', { session }, NEVER)
    return messages.at(-1)?.content === 'Still open to the end.'
  })
})

test('a signal that comes before the chat is ready ends it', async () => {
  await using chat = await openShownChat([], { signal: AbortSignal.abort() })
  await chat.done
})

test('a form shows the answer that was given', async () => {
  const options = [
    { label: 'Red', description: '' },
    { label: 'Blue', description: '' },
  ]
  const questions = [{ question: 'Which colour?', header: 'Colour', options }]
  const ask = { call: 'c1', name: 'ask_user', args: JSON.stringify({ questions }) }
  await using chat = await openShownChat([{ parts: [ask] }, { parts: ['Fine.'] }])
  chat.type('ask me\r')
  await chat.see('Blue')
  await chooseDigit(chat, '2')
  await chat.see('Which colour?', 'Blue', 'Fine.')
})

test('own words and Enter that arrive in one piece answer a form', async () => {
  const questions = [{ question: 'Which shape?', header: 'Shape', options: [] }]
  const ask = { call: 'c1', name: 'ask_user', args: JSON.stringify({ questions }) }
  await using chat = await openShownChat([{ parts: [ask] }, { parts: ['Fine.'] }])
  chat.type('ask me\r')
  await chat.see('Type an answer')
  await chooseDigit(chat, '1')
  await chat.see('Type your answer')
  chat.type('round\r')
  await chat.see('Which shape?', 'round', 'Fine.')
})

test('a missing agent ends the chat', async () => {
  await using chat = await openShownChat([{ parts: ['No.'] }], {
    options: { agent: 'nosuch', prompt: 'hello' },
  })
  await assert.rejects(chat.done, { kind: 'missing' })
})
