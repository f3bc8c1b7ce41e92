import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { OnAsk } from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../../src/core/protocol/dispatch.ts'
import { openPlainChat, type PlainIo } from '../../../src/tui/plain/plain-chat.ts'
import { chatPorts } from '../../support/chat-ports.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'
import type { Script } from '../../support/model-server.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { until } from '../../support/until.ts'

const ESC = '\u001b'

test('openPlainChat() streams answers without control sequences, and leaves at the end of input', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await open([{ parts: [`**One** ${ESC}[`, '2J', 'two', gate.promise, '\n\nthree'] }])
  await chat.shows(/\n> $/)
  chat.type('hello')
  await chat.shows(/> \n\*\*One\*\* two$/)
  gate.resolve()
  await chat.shows(/two\n\nthree\n\n> $/)
  chat.type(undefined)
  assert.equal((await chat.ended).unanswered, undefined)
  assert.doesNotMatch(chat.screen(), /hello/, 'what was typed stands there already')
  assert.equal(chat.screen().includes(ESC), false)
})

test('openPlainChat() prints a short answer once', async () => {
  await using chat = await open([{ parts: ['Hello.'] }])
  await chat.shows(/\n> $/)
  chat.type('hi')
  await chat.shows(/Hello\.\n\n> $/)
  chat.type('/status')
  await chat.shows(/scripted[\s\S]*\n> $/)
  assert.equal(chat.screen().split('Hello.').length, 2)
})

test('openPlainChat() prints tool calls when they are over, between the texts around them', async () => {
  const call = { call: 'c1', name: 'read', args: '{"path":"nothing.txt"}' }
  await using chat = await open([{ parts: ['Let me look.', call] }, { parts: ['There is none.'] }])
  chat.type('look')
  await chat.shows(/Let me look\.\n[\s\S]*read[\s\S]*\n\nThere is none\.\n\n> $/)
})

test('openPlainChat() steers the running turn with a line that is typed while it works', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await open([{ parts: ['One', gate.promise] }, { parts: ['Two'] }])
  chat.type('count')
  await chat.shows(/One$/)
  chat.type('go on')
  await until('the turn has the line', () => chat.steered() === 1)
  gate.resolve()
  await chat.shows(/One\n[\s\S]*go on[\s\S]*\n\nTwo\n\n> $/)
})

test('openPlainChat() prints a line for each attempt, and an answer that broke off before the whole one', async () => {
  const headers = { 'retry-after-ms': '20' }
  const busy = { status: 529, headers, body: { error: { message: 'Overloaded' } } }
  await using chat = await open([busy, busy, { parts: ['Half an'], end: 'cut' }, { parts: ['The answer.'] }])
  chat.type('hello')
  await chat.shows(
    /> \n. Overloaded \(529\); trying again in 1 s \(attempt 2 of 10\)\n\n. Overloaded \(529\); trying again in 1 s \(attempt 3 of 10\)\n\nHalf an\n\n. The answer ended early; trying again in \d s \(attempt 4 of 10\)\n\nThe answer\.\n\n> $/,
  )
})

test('openPlainChat() cancels with Ctrl-C, and leaves with two at the prompt', async () => {
  await using chat = await open([{ parts: ['Once upon', new Promise<void>(() => {})] }])
  chat.type('tell me')
  await chat.shows(/Once upon$/)
  chat.interrupt()
  await chat.shows(/Once upon\n\n. Interrupted\n\n> $/)
  chat.interrupt()
  await chat.shows(/Ctrl\+C again leaves\n\n> $/)
  chat.interrupt()
  assert.equal((await chat.ended).unanswered, undefined)
})

test('openPlainChat() shows what a command opens as a numbered list, and runs the chosen action', async () => {
  await using chat = await open([{ parts: ['First.'] }])
  chat.type('one')
  await chat.shows(/First\.\n\n> $/)
  chat.type('/new')
  await chat.shows(/new conversation[\s\S]*\n> $/)
  chat.type('/resume')
  await chat.shows(
    /Conversations of crab\n1\. one[^\n]*\n[\s\S]*A number chooses; an empty line chooses nothing\.\nnumber> $/,
  )
  chat.type('1')
  await chat.shows(/number> \n. one\n\nFirst\.\n[\s\S]*> $/)
  chat.type('/nothing')
  await chat.shows(/Unknown command \/nothing\n[\s\S]*> $/)
})

test('openPlainChat() lists the results of /search with their excerpts, and opens the chosen one', async () => {
  await using chat = await open([{ parts: ['The kraken sleeps in the dock.'] }])
  chat.type('who wakes at night?')
  await chat.shows(/the dock\.\n\n> $/)
  chat.type('/new')
  await chat.shows(/new conversation[\s\S]*\n> $/)
  chat.type('/search krakens kraken')
  await chat.shows(
    /\nConversations: krakens kraken\n1\. who wakes at night\?, \S[^\n]*\n {3}crab: The kraken sleeps in the dock\.\nA number opens it; an empty line continues\.\nnumber> $/,
  )
  chat.type('1')
  await chat.shows(/number> \n. who wakes at night\?\n\nThe kraken sleeps in the dock\.\n[\s\S]*> $/)
  chat.type('/search nosuchword')
  await chat.shows(/only whole words are found\n\n> $/)
})

test('openPlainChat() remembers the text after a #, lists it, and forgets it on request', async () => {
  await using chat = await open([])
  await chat.shows(/\n> $/)
  chat.type('#the prod db is on db3, port 5433')
  await chat.shows(
    /Remembered: the prod db is on db3, port 5433\n[^\n]*\/memory forget the prod db is on db3/,
  )
  chat.type('/memory')
  await chat.shows(
    /\nMemory of crab\n1\. the prod db is on db3, [^\n]*\n {3}the prod db is on db3, port 5433\n/,
  )
  await chat.shows(/A number shows it; an empty line continues\.\nnumber> $/)
  chat.type('1')
  await chat.shows(/port 5433\n\nsince [-\d]+\nA letter: d forget\. An empty line continues\.\nletter> $/)
  chat.type('')
  await chat.shows(/\n> $/)
  chat.type('/memory forget the prod db is on db3')
  await chat.shows(/letter> $/)
  chat.type('d')
  await chat.shows(/Forgotten: the prod db is on db3\n/)
  chat.type('/memory')
  await chat.shows(/crab has no memory entries yet[^\n]*\n\n> $/)
})

test('openPlainChat() takes a number after a question as the answer, and other lines as messages', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch made"}' }
  await using chat = await open([{ parts: [call] }, { parts: ['Done.'] }])
  chat.type('make it')
  await chat.shows(/may crab\? $/)
  chat.type('yes but later')
  await until('the turn has the line', () => chat.steered() === 1)
  chat.type('1 more thing')
  await until('the turn has that line, too', () => chat.steered() === 2)
  const beside = /Sent to the agent as a message; the question is still waiting for a number/g
  assert.equal(chat.screen().match(beside)?.length, 2)
  chat.type('4')
  await chat.shows(/you said 4[\s\S]*Done\.\n\n> $/)
  assert.equal(chat.screen().split('may crab? ').length, 2, 'it is asked once')
})

test('openPlainChat() does not take a line as an answer if it was typed before the question was visible', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch made"}' }
  const gate = Promise.withResolvers<void>()
  await using chat = await open([{ parts: [gate.promise, call] }, { parts: ['Done.'] }])
  chat.type('make it')
  await until('the next line is asked for', () => chat.reads() === 2)
  chat.typeUnheard('1')
  gate.resolve()
  await chat.shows(/wants something\n$/)
  chat.type('2 more')
  await until('the turn has the message', () => chat.steered() === 1)
  await chat.shows(/too soon: 1\nmay crab\? $/)
  chat.type('4')
  await chat.shows(/you said 4[\s\S]*Done\.\n\n> $/)
})

test('openPlainChat() prints one line for a question of another conversation, and takes no line as its answer', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch made"}' }
  await using chat = await open([{ parts: [call] }, { parts: ['Hi.'] }])
  await chat.shows(/\n> $/)
  const options = { onAsk: OnAsk.PARK }
  const message = {
    agent: 'crab',
    sender: 'night',
    content: 'go',
    cwd: chat.node.home.paths.home,
    detach: true,
    options,
  }
  await request(chat.node.dispatch, 'send', message, new AbortController().signal)
  await chat.shows(/crab asks in "night": \/asks\n\n> $/)
  chat.type('1')
  await chat.shows(/Hi\.\n\n> $/)
  assert.equal(chat.node.services.asks.list('').length, 1)
})

/** A plain chat over a scripted model, whose keyboard is the test. */
test('openPlainChat() sends nothing when the requested conversation is missing', async () => {
  await using chat = await open([{ parts: ['No.'] }], { session: 'nosuch', prompt: 'hello' })
  await assert.rejects(chat.ended, { kind: /missing|invalid/ })
  assert.equal(chat.requests(), 0)
})

test('openPlainChat() takes a path as a message', async () => {
  await using chat = await open([{ parts: ['I see.'] }])
  chat.type('/tmp/foo is a path')
  await chat.shows(/I see\./)
})

test('openPlainChat() prints messages of other clients in the conversation, and their answers', async () => {
  await using chat = await open([{ parts: ['One.'] }, { parts: ['Two.'] }])
  await chat.shows(/\n> $/)
  await chat.node.ask('from a script')
  await chat.shows(/from a script\n[\s\S]*One\.\n\n> $/)
  chat.type('mine')
  await chat.shows(/One\.\n[\s\S]*Two\.\n\n> $/)
  assert.doesNotMatch(chat.screen(), /mine/, 'what was typed stands there already')
})

test('openPlainChat() withdraws a question that another client has answered', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch made"}' }
  await using chat = await open([{ parts: [call] }, { parts: ['Done.'] }])
  chat.type('make it')
  await chat.shows(/may crab\? $/)
  const { id: askId, questions } = chat.node.services.asks.list('')[0]!.ask
  const content = JSON.stringify({ [questions[0]!.question]: 'No' })
  const answer = { agent: 'crab', sender: 'bob', askId, content }
  await request(chat.node.dispatch, 'replyToAsk', answer, new AbortController().signal)
  await chat.shows(/Answered in another window, by bob[\s\S]*Done\.\n\n> $/)
  assert.doesNotMatch(chat.screen(), /you said No/)
})

test('openPlainChat() runs a call that the user has edited', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch made"}' }
  await using chat = await open([{ parts: [call] }, { parts: ['Done.'] }], {}, async (ask, asker, signal) => {
    chat.print(`edit ${ask.permission?.action}? `)
    while ((await asker.readLine(signal, 'choice-or-edit')) !== 'e');
    chat.print('instead: ')
    const command = await asker.readLine(signal, 'words')
    const answers = { [ask.questions[0]!.question]: PERMISSION_ANSWERS.once }
    return { answers, arguments: JSON.stringify({ command }) }
  })
  chat.type('make it')
  await chat.shows(/edit [^?]*touch made\? $/)
  chat.type('e')
  await chat.shows(/instead: $/)
  chat.type('echo made')
  await chat.shows(/echo made[\s\S]*Done\.\n\n> $/)
})

async function open(
  script: Script,
  options: Partial<typeof CHAT_OPTIONS> = {},
  converse?: PlainIo['converse'],
) {
  const node = await startTestDispatch(script)
  const lines: (string | undefined)[] = []
  let wake = Promise.withResolvers<void>()
  let screen = ''
  let reads = 0
  let interrupt = () => {}
  const stop = new AbortController()
  const io: PlainIo = {
    columns: () => 80,
    write: (text) => {
      screen += text
    },
    async readLine(signal) {
      reads += 1
      signal.addEventListener('abort', () => wake.resolve(), { once: true })
      while (lines.length === 0) {
        signal.throwIfAborted()
        await wake.promise
        wake = Promise.withResolvers()
      }
      return lines.shift()
    },
    onInterrupt(listener) {
      interrupt = listener
      return { [Symbol.dispose]() {} }
    },
    async converse(ask, asker, signal) {
      if (converse) return await converse(ask, asker, signal)
      const { agent, readLine, see } = asker
      const { questions } = ask
      screen += `crab wants something\n`
      const early = await see(signal)
      screen += `${early && `too soon: ${early}`}may ${agent}? `
      const answer = (await readLine(signal, 'choice')) ?? ''
      screen += `you said ${answer}\n`
      return { answers: Object.fromEntries(questions.map(({ question }) => [question, answer])) }
    },
  }
  let steered = 0
  const dispatch: Dispatch = async function* counted(message, signal) {
    for await (const reply of node.dispatch(message, signal)) {
      if (message.msg?.$case === 'steerSession') steered++
      yield reply
    }
  }
  const ports = chatPorts(dispatch, { cwd: node.home.paths.home })
  const ended = openPlainChat(ports, { ...CHAT_OPTIONS, ...options }, io, stop.signal)
  return {
    ended,
    node,
    /** The lines that a running turn has accepted. */
    steered: () => steered,
    requests: () => node.server.requests.length,
    screen: () => screen,
    print(text: string) {
      screen += text
    },
    shows: (pattern: RegExp) =>
      until(`the screen shows ${pattern}`, () => pattern.test(screen)).catch((reason) => {
        throw new Error(`${reason.message}; it shows:\n${screen}`)
      }),
    /** Returns how many lines were requested. */
    reads: () => reads,
    /** Types a line immediately before a question. */
    typeUnheard: (line: string) => void lines.push(line),
    unread: () => lines.length,
    interrupt: () => interrupt(),
    type(line: string | undefined) {
      lines.push(line)
      wake.resolve()
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended.catch(() => undefined) // tests that expect a failure wait for it themselves
      await node[Symbol.asyncDispose]()
    },
  }
}
