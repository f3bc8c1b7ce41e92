import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session, type SessionOptions } from '../support/chat-session.ts'
import { chooseDigit } from '../support/choose-digit.ts'
import { kill } from '../support/processes.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** Answers `pwd` with a call of bash and everything else with an echo, so that each window shows its own. */
const ECHO = ({ text }: { text: string }) => {
  const { messages } = JSON.parse(text) as { messages: { role: string; content: unknown }[] }
  const last = messages.at(-1)
  if (last?.role === 'tool') return { parts: ['That is where I am.'] }
  const words = JSON.stringify(last?.content)
  if (words.includes('where'))
    return { parts: [{ call: 'c1', name: 'bash', args: '{"command":"pwd > here"}' }] }
  return { parts: [`You said ${/\w+ \w+/.exec(words)?.[0]}.`] }
}

const open = (talk: Talk, args: readonly string[] = [], more: SessionOptions = {}) =>
  openChat(talk, ['chat', ...args], { env: WITH_DAEMON, ...more })

async function makeProjects(talk: Talk): Promise<[string, string]> {
  const projects = ['apples', 'bananas'].map((name) => join(talk.cwd, name))
  for (const project of projects) await mkdir(project)
  return (await Promise.all(projects.map((project) => realpath(project)))) as [string, string]
}

async function isIdle(chat: Session): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    const isBusy = lines.some((line) => line.includes('esc to interrupt'))
    return !isBusy && lines.some((line) => line.includes('> Ask anything'))
  })
}

async function say(chat: Session, words: string, answer = `You said ${words}.`): Promise<void> {
  chat.type(`${words}\r`)
  await chat.shows(answer)
  await isIdle(chat)
}

async function leave(chat: Session): Promise<string> {
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
  return chat.screen.text().join('\n')
}

test('two windows in two projects keep their own messages and directories, and come back to them', async () => {
  await using talk = await makeTalk(ECHO)
  await using _daemon = await startSandboxDaemon(talk)
  const [apples, bananas] = await makeProjects(talk)
  {
    await using left = open(talk, ['--yolo'], { cwd: apples })
    await using right = open(talk, ['--yolo'], { cwd: bananas })
    for (const chat of [left, right]) await chat.shows('· daemon')
    await say(left, 'apples one')
    await say(right, 'bananas one')
    await say(left, 'where now', 'That is where I am.')
    await say(right, 'where now', 'That is where I am.')
    await say(left, 'apples two')
    assert.doesNotMatch(left.screen.text().join('\n'), /bananas one|shared|running/)
    await leave(left)
    assert.match(await leave(right), /^Continue: crabtalk --resume \w{8}$/m)
  }
  for (const project of [apples, bananas])
    assert.equal((await readFile(join(project, 'here'), 'utf8')).trim(), project)
  const sessions = await talk.sessions()
  assert.deepEqual(
    sessions
      .map(({ header, said }) => [header['cwd'], said.filter((one) => one.includes('one')).length])
      .toSorted(),
    [
      [apples, 2],
      [bananas, 2],
    ],
  )
  await using again = open(talk, [], { cwd: bananas })
  await again.shows('You said bananas one.')
  await again.shows('continued')
  await say(again, 'bananas two')
  await leave(again)
  assert.equal((await talk.sessions()).length, 2)
})

for (const [how, env] of [
  ['with a daemon', WITH_DAEMON],
  ['in process', {}],
] as const) {
  test(`a second window in a directory gets a new conversation, ${how}; --new and /resume never move another window`, async () => {
    await using talk = await makeTalk(ECHO)
    await using _daemon = how === 'in process' ? undefined : await startSandboxDaemon(talk)
    const place = how === 'in process' ? '· in process' : '· daemon'
    await using first = open(talk, [], { env })
    await first.shows(place)
    await say(first, 'first window')
    await using second = open(talk, [], { env })
    await second.shows('open in another window')
    await say(second, 'second window')
    await using third = open(talk, ['--new'], { env })
    await third.shows('new conversation')
    await say(third, 'third window')
    third.type('/resume first\r')
    await third.shows('Conversations of crab')
    third.press('enter')
    await third.shows('You said first window.')
    await third.shows('shared')
    const isLive = how === 'with a daemon'
    if (!isLive) await third.shows('Another window has this conversation open')
    await say(first, 'still here')
    if (isLive) await third.shows('You said still here.')
    const seen = third.screen.text().join('\n')
    assert.doesNotMatch(seen, isLive ? /Another window has this/ : /still here/)
    await say(second, 'here too')
    for (const chat of [first, second, third]) await leave(chat)
    const messages = (await talk.sessions()).map((session) =>
      session.said.filter((one) => one.startsWith('user')),
    )
    assert.deepEqual(messages.toSorted(), [
      ['user: first window', 'user: still here'],
      ['user: second window', 'user: here too'],
      ['user: third window'],
    ])
  })
}

test('a conversation of another directory moves its window there: the status line, tools, @ and !', async () => {
  await using talk = await makeTalk(ECHO)
  await using _daemon = await startSandboxDaemon(talk)
  const [apples, bananas] = await makeProjects(talk)
  await talk.send(['-s', 'fruit', 'apples one'], { env: WITH_DAEMON, cwd: apples })
  await using chat = open(talk, [], { cwd: bananas, columns: 120 })
  await chat.shows(/bananas.* · daemon/)
  chat.type('/resume apples\r')
  await chat.shows('Conversations of crab')
  chat.press('enter')
  await chat.shows(/continued.*apples · \/new starts a new one/)
  await chat.shows(/apples · daemon/)
  chat.type('where now\r')
  await chooseDigit(chat, '1')
  await chat.shows('That is where I am.')
  await isIdle(chat)
  assert.equal((await readFile(join(apples, 'here'), 'utf8')).trim(), apples)
  chat.type('!pwd > typed\r')
  await until('the command ran there', async () => (await readdir(apples)).includes('typed'))
  await isIdle(chat)
  chat.type('read @he')
  await chat.shows('› here')
  chat.press('esc')
  await chat.shows((screen) => !screen.lines().some((line) => line.includes('› here')))
  chat.press('ctrl+u')
  await isIdle(chat)
  await leave(chat)
})

test('Ctrl+B puts a turn into the background; the window works on, and the agents view leads back', async () => {
  const gate = Promise.withResolvers<void>()
  await using talk = await makeTalk(({ text }) =>
    text.includes('do the long task')
      ? { parts: ['Working', gate.promise, ' done.'] }
      : { parts: ['Quick answer.'] },
  )
  await using _daemon = await startSandboxDaemon(talk)
  await using chat = open(talk, [], { columns: 100 })
  await chat.shows('· daemon')
  chat.type('do the long task\r')
  await chat.shows('Working')
  chat.type('a draft\u0002')
  await chat.shows('continues in the background: /agents')
  await chat.shows('new conversation')
  await chat.shows('1 running')
  await chat.shows('> a draft')
  chat.press('ctrl+u')
  await say(chat, 'something else', 'Quick answer.')
  chat.press('left')
  await chat.shows('Agents: 1 running')
  await chat.shows(/runs +\d+s\s+do the long task\s+crab .*Working/)
  chat.press('enter')
  await chat.shows('esc to interrupt')
  gate.resolve()
  await chat.shows('Working done.')
  await isIdle(chat)
  await chat.shows((screen) => !screen.lines().some((line) => line.includes('1 running')))
  await leave(chat)
  const messages = (await talk.sessions()).map((session) => session.said)
  assert.deepEqual(messages, [
    ['user: do the long task', 'assistant: Working done.'],
    ['user: something else', 'assistant: Quick answer.'],
  ])
})

test('the agents view ends a turn with x twice, and lists what ended since the user looked', async () => {
  const gate = Promise.withResolvers<void>()
  await using talk = await makeTalk(({ text }) =>
    text.includes('endless')
      ? { parts: ['Going'], end: 'hang' }
      : { parts: ['Building…', gate.promise, '\nAll 12 tests pass.'] },
  )
  await using _daemon = await startSandboxDaemon(talk)
  await using chat = open(talk, [], { columns: 120 })
  await chat.shows('· daemon')
  chat.type('the endless one\r')
  await chat.shows('Going')
  chat.type('/new\r')
  await chat.shows('new conversation')
  chat.type('build it\r')
  await chat.shows('Building')
  chat.type('/background\r')
  await chat.shows('2 running')
  chat.type('/agents\r')
  await chat.shows('Agents: 2 running')
  gate.resolve()
  await chat.shows('Agents: 1 running · 1 ended since you looked')
  await chat.shows(/ended +\d+s\s+build it\s+crab .*All 12 tests pass\./)
  chat.type('x')
  await chat.shows('x again to end its turn')
  chat.type('x')
  await chat.shows('The turn was interrupted')
  await chat.shows(/Agents: [12] ended since you looked/)
  chat.press('esc')
  await isIdle(chat)
  await leave(chat)
})

test('in process, a turn in the background ends with the window, and leaving asks first', async () => {
  await using talk = await makeTalk([{ parts: ['Working'], end: 'hang' }])
  await using chat = open(talk, [], { env: {} })
  await chat.shows('· in process')
  chat.type('do it\r')
  await chat.shows('Working')
  chat.type('\u0002')
  await chat.shows('in the background until you close this window')
  await isIdle(chat)
  chat.type('/quit\r')
  await chat.shows('type /quit again')
  chat.type('/context\r')
  await chat.shows('there are no messages yet')
  chat.type('/quit\r')
  await chat.shows('type /quit again')
  chat.press('ctrl+d')
  await chat.shows('press Ctrl+D again')
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
  const [session] = await talk.sessions()
  assert.deepEqual(session?.said, ['user: do it', 'assistant: Working [cancelled]'])
})

test('a killed chat keeps its draft, which comes back in its conversation and is removed when it is sent', async () => {
  await using talk = await makeTalk(ECHO)
  await using _daemon = await startSandboxDaemon(talk)
  const drafts = join(talk.home, 'cache', 'chat', 'drafts')
  const list = async () => (await readdir(drafts).catch(() => [])).filter((name) => name.endsWith('.json'))
  const count = async () => (await list()).length
  {
    await using chat = open(talk)
    await chat.shows('· daemon')
    await say(chat, 'hello there')
    chat.type('a half finished thought')
    const stored = async () => readFile(join(drafts, (await list())[0] ?? ''), 'utf8').catch(() => '')
    await until('the draft is stored', async () => (await stored()).includes('a half finished thought'))
    kill(chat.pid)
    await chat.finished
  }
  const [name = ''] = await list()
  assert.equal((await stat(join(drafts, name))).mode & 0o777, 0o600)
  await using again = open(talk)
  await again.shows('continued')
  await again.shows('> a half finished thought')
  again.type(', now sent\r')
  await again.shows('You said a half.')
  await isIdle(again)
  await until('no draft is left', async () => (await count()) === 0)
  again.type('in a new place')
  await again.shows('> in a new place')
  again.press('ctrl+u')
  again.type('/new\r')
  await again.shows('new conversation')
  again.type('unsent words')
  await until('that draft is stored', async () => (await count()) === 1)
  again.hangUp()
  await again.finished
  await using last = open(talk)
  await last.shows('> unsent words')
  await using beside = open(talk)
  await beside.shows('You said a half.')
  await beside.shows('> Ask anything')
  last.press('ctrl+u')
  await leave(last)
  await leave(beside)
  assert.equal(await count(), 0)
})

test('a turn that ended with its daemon is marked when its conversation is opened again', async () => {
  await using talk = await makeTalk([{ parts: ['Never'], end: 'hang' }, { parts: ['Better now.'] }])
  {
    await using daemon = await startSandboxDaemon(talk)
    await using chat = open(talk)
    await chat.shows('· daemon')
    chat.type('do it\r')
    await chat.shows('Never')
    const looked = join(talk.home, 'cache', 'chat', 'looked')
    await until('the window has seen it', async () => (await readdir(looked).catch(() => [])).length === 1)
    kill(chat.pid)
    await chat.finished
    daemon.kill('SIGKILL')
    await daemon.finished
  }
  await using _daemon = await startSandboxDaemon(talk)
  await using again = open(talk)
  await again.shows('This turn did not finish')
  await say(again, 'again please', 'Better now.')
  await leave(again)
  await using last = open(talk)
  await last.shows('continued')
  assert.doesNotMatch(last.screen.text().join('\n'), /not finished/)
  await leave(last)
})

test('SIGTERM during a question says only that the question waits, and how to come back', async () => {
  const touch = { call: 'c1', name: 'bash', args: '{"command":"touch ran"}' }
  await using talk = await makeTalk([{ parts: [touch] }])
  await using _daemon = await startSandboxDaemon(talk)
  await using chat = open(talk, ['run it'])
  await chat.shows('❯ 4  No')
  process.kill(chat.pid, 'SIGTERM')
  await chat.finished
  const text = chat.screen.text().join('\n')
  assert.match(
    text,
    /A question is waiting\. Answer it: crabtalk answer \w{8}\s+Continue: crabtalk --resume \w{8}/,
  )
  assert.doesNotMatch(text, /failed|Interrupted/)
})

test('send -c joins the conversation of the chat in its directory, and a single send does not become it', async () => {
  await using talk = await makeTalk(ECHO)
  await using _daemon = await startSandboxDaemon(talk)
  await using chat = open(talk)
  await chat.shows('· daemon')
  await say(chat, 'hello there')
  assert.equal(
    (await talk.send(['-c', 'from script'], { env: WITH_DAEMON })).stdout,
    'You said from script.\n',
  )
  await chat.shows('You said from script.')
  await isIdle(chat)
  await leave(chat)
  await talk.send(['single run'], { env: WITH_DAEMON })
  await using again = open(talk)
  await again.shows('You said from script.')
  assert.doesNotMatch(again.screen.text().join('\n'), /single run/)
  await leave(again)
})
