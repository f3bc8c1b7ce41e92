import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import { chooseDigit } from '../support/choose-digit.ts'
import { kill } from '../support/processes.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const CHAT = ['chat', '-s', 'ann'] as const
const open = (talk: Talk) => openChat(talk, CHAT, { env: WITH_DAEMON })

test('a turn continues when its chat is killed; another chat shows the whole answer once, and what was not sent', async () => {
  const gate = Promise.withResolvers<void>()
  const turn = [{ parts: ['The beginning, ', gate.promise, 'and the end.'] }, { parts: ['As you say.'] }]
  await using talk = await makeTalk(turn)
  await using _daemon = await startSandboxDaemon(talk)
  await using first = open(talk)
  await first.shows('· daemon')
  first.type('tell me\r')
  await first.shows('The beginning,')
  first.type('shorter please\r')
  await first.shows('next: shorter please')
  first.type('and then this\t')
  await first.shows('then: and then this')
  await until('both are stored', async () => {
    const drafts = await readDrafts(talk)
    return drafts.includes('"content":"shorter please"') && drafts.includes('and then this')
  })
  kill(first.pid)
  await first.finished
  await using second = open(talk)
  await second.shows('The beginning,')
  await second.shows('back in the prompt')
  await second.shows('> and then this')
  await second.shows('next: shorter please')
  gate.resolve()
  await second.shows('The beginning, and the end.')
  await second.shows('As you say.')
  assertOnce(second, '▌ tell me', 'The beginning,', 'and the end.', '▌ shorter please')
  await second.shows('> and then this')
  second.press('ctrl+u')
  await isIdle(second)
  await leave(second)
})

test('leaving a chat detaches its turn, which runs to its end and is stored', async () => {
  const gate = Promise.withResolvers<void>()
  await using talk = await makeTalk([{ parts: ['Once', gate.promise, ' upon a time.'] }])
  await using _daemon = await startSandboxDaemon(talk)
  await using chat = open(talk)
  await chat.shows('· daemon')
  chat.type('tell me\r')
  await chat.shows('Once')
  await leave(chat)
  assert.ok(chat.screen.text().some((line) => line.includes('The turn continues without this window')))
  gate.resolve()
  await until('the answer is stored', async () => {
    const [session] = await talk.sessions()
    return session?.said.includes('assistant: Once upon a time.') ?? false
  })
})

test('a chat starts a daemon and shares it with a send and another chat', async () => {
  await using talk = await makeTalk([{ parts: ['One.'] }, { parts: ['Two.'] }])
  await using first = open(talk)
  await first.shows('· daemon')
  await using second = open(talk)
  await second.shows('· daemon')
  const sent = await talk.send(['-s', 'ann', 'from a script'], { env: WITH_DAEMON })
  assert.deepEqual([sent.stdout, sent.stderr, sent.code], ['One.\n', '', 0])
  for (const chat of [first, second]) {
    await chat.shows('from a script')
    await chat.shows('One.')
  }
  second.type('from a window\r')
  for (const chat of [first, second]) {
    await chat.shows('Two.')
    assertOnce(chat, 'from a script', 'One.', 'from a window', 'Two.')
    await isIdle(chat)
    await leave(chat)
  }
  assert.equal((await talk.run(['daemon', 'stop'], { env: WITH_DAEMON })).code, 0)
})

test('a question of a script appears in every chat, is answered in one, and closes in the other', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch ran"}' }
  await using talk = await makeTalk(({ text }) =>
    text.includes('"role":"tool"') ? { parts: ['It ran.'] } : { parts: [call] },
  )
  await using _daemon = await startSandboxDaemon(talk)
  await using first = open(talk)
  await using second = open(talk)
  for (const chat of [first, second]) await chat.shows('· daemon')
  const sent = talk.send(['-s', 'bob', '--on-ask', 'park', 'run it'], { env: WITH_DAEMON })
  for (const chat of [first, second]) {
    await chat.shows('crab asks in "bob": /asks')
  }
  first.type('/asks\r')
  await first.shows('Pending questions')
  first.press('enter')
  await chooseDigit(first, '1')
  assert.deepEqual([(await sent).stdout, (await sent).code], ['It ran.\n', 0])
  for (const chat of [first, second]) {
    await isIdle(chat)
    await leave(chat)
  }
})

const TOUCH = { call: 'c1', name: 'bash', args: '{"command":"touch ran"}' }

/** Waits for the last line of a chat, which the terminal wraps. */
async function farewell({ screen, finished }: Session): Promise<string> {
  await finished
  return screen.text().join('')
}

test('a chat that is left with a pending question prints both commands that lead back to it', async () => {
  await using talk = await makeTalk([{ parts: [TOUCH] }, { parts: ['It ran.'] }])
  await using _daemon = await startSandboxDaemon(talk)
  await using first = open(talk)
  await first.shows('· daemon')
  first.type('run it\r')
  await first.shows('❯ 4  No')
  first.press('ctrl+d')
  const { stdout } = await talk.run(['asks', '--json'], { env: WITH_DAEMON })
  const [{ id }] = JSON.parse(stdout) as [{ id: string }]
  const answer = `A question is waiting. Answer it: crabtalk answer ${id.slice(-8)}`
  assert.ok((await farewell(first)).includes(answer), await farewell(first))
  assert.match(await farewell(first), /Continue: crabtalk --resume \w{8}\s*$/)
  await using second = open(talk)
  await second.shows('❯ 4  No')
  second.hangUp()
  await second.finished
  await using third = open(talk)
  await third.shows('❯ 4  No')
  const answered = await talk.run(['answer', id.slice(-8), '1'], { env: WITH_DAEMON })
  assert.equal(answered.code, 0, answered.stderr)
  await third.shows('It ran.')
  await isIdle(third)
  await leave(third)
  assert.doesNotMatch(await farewell(third), /question/)
})

for (const [how, args, word] of [
  ['on the screen', [], '❯ 4  No'],
  ['as plain lines', ['--plain'], /details \n> /],
] as const) {
  test(`a chat ${how} that is left with a question says whether it still waits, with and without a daemon`, async () => {
    await using talk = await makeTalk(() => ({ parts: [TOUCH] }))
    await using _daemon = await startSandboxDaemon(talk)
    for (const [env, said] of [
      [{}, /The open question ended with the chat and its turn\.\s*Continue: crabtalk --resume \w{8}/],
      [
        WITH_DAEMON,
        /A question is waiting\. Answer it: crabtalk answer \w{8}\s*Continue: crabtalk --resume \w{8}/,
      ],
    ] as const) {
      await using chat = openChat(talk, [...CHAT, ...args, 'run it'], { env })
      await chat.shows(word)
      chat.type('/exit\r')
      if (env !== WITH_DAEMON) {
        await chat.shows('A turn is running in this process')
        chat.type('/exit\r')
      }
      assert.equal((await chat.finished).code, 0)
      assert.match(await farewell(chat), said)
      assert.match(
        chat.screen.text().join('').trimEnd(),
        /Continue: crabtalk --resume \w{8}$/,
        'nothing comes behind it',
      )
      const [, own = ''] = (await farewell(chat)).split('continued')
      assert.doesNotMatch(own, /Interrupted|failed/, 'the call still waits')
    }
    const { stdout } = await talk.run(['asks', '--json'], { env: WITH_DAEMON })
    assert.equal(JSON.parse(stdout).length, 1)
  })
}

test('a chat reports that its daemon died, connects to the next one, and shows what it missed', async () => {
  await using talk = await makeTalk([
    { parts: ['First.'] },
    { parts: ['Never', new Promise<void>(() => {})] },
    { parts: ['Missed.'] },
    { parts: ['Last.'] },
  ])
  await using daemon = await startSandboxDaemon(talk)
  await using chat = open(talk)
  await chat.shows('· daemon')
  chat.type('one\r')
  await chat.shows('First.')
  await isIdle(chat)
  chat.type('two\r')
  await chat.shows('Never')
  daemon.kill('SIGKILL')
  await daemon.finished
  await chat.shows('no daemon, trying again')
  await chat.shows(/· daemon\s*$/m)
  await chat.holds('The daemon stopped during this turn')
  await talk.send(['-s', 'ann', 'three'], { env: WITH_DAEMON })
  await chat.shows('Missed.')
  chat.type('four\r')
  await chat.shows('Last.')
  assertOnce(chat, 'First.', 'Never', 'Missed.', 'Last.')
  await isIdle(chat)
  await leave(chat)
  assert.equal((await talk.run(['daemon', 'stop'], { env: WITH_DAEMON })).code, 0)
})

test('a daemon without the key of the provider names the variable, and so does a chat that has the key', async () => {
  const config = () => 'model = "m"\n[[providers]]\nname = "a"\nkind = "anthropic"\nmodels = ["m"]\n'
  await using talk = await makeTalk([], config)
  await using _daemon = await startSandboxDaemon(talk)
  const env = { ...WITH_DAEMON, ANTHROPIC_API_KEY: 'sk-test' }
  await using chat = openChat(talk, CHAT, { env, columns: 120 })
  await chat.shows('This chat runs in its own process: the daemon was started without ANTHROPIC_API_KEY')
  await chat.shows('stop the daemon with crabtalk daemon stop')
  await chat.shows('· in process')
  chat.type('/new\r')
  await chat.shows('new conversation')
  assertOnce(chat, 'This chat runs in its own process')
  await leave(chat)
  assertFailed(await talk.send(['hi'], { env: WITH_DAEMON }), 'credentials', {
    message: /^Cannot use provider "a" \(config\.toml:2\): the daemon was started without ANTHROPIC_API_KEY$/,
    hint: /crabtalk daemon stop.*service\.env.*crabtalk connect/,
  })
})

async function isIdle(chat: Session): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    return (
      !lines.some((line) => line.includes('esc to interrupt')) &&
      lines.some((line) => line.includes('> Ask anything'))
    )
  })
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
}

function assertOnce({ screen }: Session, ...words: readonly string[]): void {
  const lines = screen.text().filter((line) => !line.startsWith('crab · ')) // the status line has the title, too
  const text = lines.join('\n')
  for (const one of words) assert.equal(text.split(one).length, 2, `"${one}" once in:\n${text}`)
}

/** Returns what the windows have stored of messages that are not sent. */
async function readDrafts({ home }: Talk): Promise<string> {
  const folder = join(home, 'cache', 'chat', 'drafts')
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))).join()
}
