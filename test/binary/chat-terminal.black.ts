import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openChat, openShell, type Session } from '../support/chat-session.ts'
import { processesLeft, readOfProcess } from '../support/processes.ts'
import { makeTalk, readSessions, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const ESC = '\u001b'
/** The sequences that reset the modes a chat sets. */
const UNDONE = [`${ESC}[?2004l`, `${ESC}[?25h`]

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
  test(`${signal} restores the terminal and keeps the conversation`, async () => {
    await using talk = await makeTalk([{ parts: ['Once upon a time', new Promise<void>(() => {})] }])
    await using shell = openShell(
      talk,
      'stty -a > before; crabtalk chat "tell me"; echo code $?; stty -a > after',
    )
    await shell.shows('Once upon a time')
    process.kill(await findChatPid(talk), signal)
    await shell.shows(/^code \d+$/)
    assert.equal((await shell.finished).code, 0)
    const code = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130 }[signal]
    assert.ok(shell.screen.text().includes(`code ${code}`), shell.screen.text().join('\n'))
    await assertRestored(talk, shell)
    const [session] = await readSessions(talk.home)
    assert.deepEqual(session?.said[0], 'user: tell me')
    assert.match(session?.said[1] ?? '', /^assistant: Once upon a time \[/)
  })
}

test('Ctrl-Z restores the terminal for the shell, and fg draws the chat again, once', async () => {
  await using talk = await makeTalk([{ parts: ['An answer.'] }])
  await using shell = openShell(talk, 'exec bash --norc --noprofile -i', { env: { PS1: 'prompt$ ' } })
  await shell.shows(/prompt\$/)
  shell.type('crabtalk chat hello\r')
  await isIdle(shell, 'An answer.')
  shell.type('a draft')
  await shell.shows('> a draft')
  shell.press('ctrl+z')
  await shell.shows(/Stopped/)
  shell.type('stty -a > after; echo between\r')
  await shell.shows(/^between$/)
  assert.match(await stty(talk, 'after'), / icanon\b[\s\S]* echo\b/)
  shell.type('fg\r')
  await shell.shows('> a draft')
  shell.press('backspace')
  await shell.shows('> a draf')
  assert.equal(shell.screen.lines().filter((line) => line.startsWith('> ')).length, 1)
  assert.ok(shell.screen.text().includes('An answer.'))
  shell.press('ctrl+c')
  await shell.shows('> Ask anything')
  shell.press('ctrl+d')
  await shell.shows(/prompt\$ $|prompt\$$/)
  shell.type('exit\r')
  await shell.finished
})

test('the chat ends when its terminal hangs up, and leaves no process', async () => {
  await using talk = await makeTalk([{ parts: ['Once upon a time', new Promise<void>(() => {})] }])
  await using chat = openChat(talk, ['chat', 'tell me'])
  await chat.shows('Once upon a time')
  chat.hangUp()
  await until('the chat has ended', async () => (await talk.processesLeft()).length === 0)
})

test("an answer that streams while the terminal's height changes appears once", async () => {
  await using talk = await makeTalk([{ parts: WORDS, paceMs: 4 }])
  await using chat = openChat(talk, ['chat', 'many'], { columns: 80, rows: 40 })
  await chat.shows('word30')
  const random = randomFrom(7)
  for (let at = 0; at < 40; at++) {
    await chat.resize(80, 24 + (random() % 40))
    await pause(random() % 60)
  }
  await isIdle(chat, 'word399')
  assertOnce(chat)
  await leave(chat)
})

test("an answer appears once when the terminal's width changes between its chunks", async () => {
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<void>())
  const pieces = gates.flatMap(({ promise }, at) => [
    promise,
    WORDS.slice(at * 50 + 45, at * 50 + 95).join(''),
  ])
  const parts = [WORDS.slice(0, 45).join(''), ...pieces, WORDS.slice(395).join('')]
  await using talk = await makeTalk([{ parts }])
  await using chat = openChat(talk, ['chat', 'many'], { columns: 80, rows: 40 })
  const random = randomFrom(11)
  for (const [at, gate] of gates.entries()) {
    const first = `word${at * 50 + 25} ` // of the open paragraph
    await chat.shows(`word${at * 50 + 44}`)
    for (let step = 0; step < 4; step++) {
      await chat.resize(50 + (random() % 60), 40)
      const before = chat.bytes().length
      await chat.shows(({ columns }) => {
        const [row = ''] = chat.screen.lines().filter((line) => line.startsWith(first))
        const isFull = row.length > columns - 9 && row.length <= columns && !row.endsWith('…')
        return isFull && chat.bytes().length > before
      })
    }
    gate.resolve()
  }
  await isIdle(chat, 'word399')
  assertOnce(chat)
  await leave(chat)
})

test('many resizes of all kinds while an answer streams clear nothing and leave one prompt', async () => {
  await using talk = await makeTalk([{ parts: WORDS, paceMs: 4 }])
  await using chat = openChat(talk, ['chat', 'many'], { columns: 80, rows: 24 })
  await chat.shows('word30')
  const random = randomFrom(7)
  for (let at = 0; at < 60; at++) {
    await chat.resize(1 + (random() % 200), 1 + (random() % 60))
    await pause(random() % 30)
  }
  await chat.resize(100, 30)
  await isIdle(chat, 'word399')
  await chat.shows(() => promptsOf(chat) === 1)
  assert.doesNotMatch(chat.bytes(), CLEARS)
  await leave(chat)
})

test('the scrollback contains all of 20,000 chunks', async () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `w${at}${at % 12 === 11 ? '\n\n' : ' '}`)
  await using talk = await makeTalk([{ parts: words }])
  await using chat = openChat(talk, ['chat', 'many'])
  await isIdle(chat, 'w19999')
  const text = chat.screen.text().join(' ').split(/\s+/)
  assert.deepEqual(
    text.filter((word) => /^w\d+$/.test(word)),
    words.map((word) => word.trim()),
  )
  assert.doesNotMatch(chat.bytes(), CLEARS)
  await leave(chat)
})

test('a pasted text of 5,000 lines is a placeholder in the prompt and complete in the message', async () => {
  await using talk = await makeTalk([{ parts: ['Read it.'] }])
  await using chat = openChat(talk)
  await isIdle(chat)
  const text = Array.from({ length: 5_000 }, (_, at) => `line ${at}`).join('\n')
  chat.paste(text)
  await chat.shows(/^> .*(5,000|5000).*lines/)
  chat.press('enter')
  await isIdle(chat, 'Read it.')
  assert.ok(
    JSON.stringify(talk.server.requests[0]?.json['messages']).includes(JSON.stringify(text).slice(1, -1)),
  )
  await leave(chat)
})

test('the cursor is at the caret, after and between wide characters', async () => {
  await using talk = await makeTalk([])
  await using chat = openChat(talk)
  await isIdle(chat)
  chat.type('漢字e\u0301')
  await chat.shows(/> 漢字/)
  const caret = () => {
    const { x, y } = chat.screen.cursor()
    return [x, (chat.screen.lines()[y] ?? '').slice(0, 2)]
  }
  await chat.shows(() => caret()[0] === 7)
  assert.deepEqual(caret(), [7, '> '])
  chat.press('left')
  await chat.shows(() => caret()[0] === 6)
  chat.press('left')
  await chat.shows(() => caret()[0] === 4)
  assert.deepEqual(caret(), [4, '> '])
  chat.press('ctrl+c')
  await leave(chat)
})

test('two chats on one home each have their own conversation, and leave no process', async () => {
  await using talk = await makeTalk((request) => {
    const message = JSON.stringify((request.json['messages'] as unknown[]).at(-1))
    return { parts: [message.includes('one') ? 'Answer to one.' : 'Answer to two.'] }
  })
  await using one = openChat(talk, ['chat', '-s', 'ann'])
  await using two = openChat(talk, ['chat', '-s', 'bob'])
  await Promise.all([isIdle(one), isIdle(two)])
  one.type('one')
  two.type('two')
  await Promise.all([one.shows('> one'), two.shows('> two')])
  one.press('enter')
  two.press('enter')
  await Promise.all([isIdle(one, 'Answer to one.'), isIdle(two, 'Answer to two.')])
  await Promise.all([leave(one), leave(two)])
  assert.deepEqual(await talk.processesLeft(), [])
  assert.deepEqual((await readSessions(talk.home)).map(({ said }) => said).toSorted(), [
    ['user: one', 'assistant: Answer to one.'],
    ['user: two', 'assistant: Answer to two.'],
  ])
})

test('crabtalk without arguments opens the chat on a terminal and prints help in a pipe', async () => {
  await using talk = await makeTalk([])
  await using chat = openChat(talk, [])
  await isIdle(chat)
  await leave(chat)
  const { stdout, code } = await talk.run([])
  assert.match(stdout, /^Usage: crabtalk/m)
  assert.equal(code, 0)
})

test('the terminal is restored once when two signals arrive together', async () => {
  await using talk = await makeTalk([{ parts: ['Once upon a time', new Promise<void>(() => {})] }])
  await using shell = openShell(
    talk,
    'stty -a > before; crabtalk chat "tell me"; echo code $?; stty -a > after',
  )
  await shell.shows('Once upon a time')
  const pid = await findChatPid(talk)
  process.kill(pid, 'SIGINT')
  process.kill(pid, 'SIGTERM') // signals of the same kind may be merged, and the system decides which one arrives last
  await shell.shows(/^code 1(?:30|43)$/)
  await shell.finished
  await assertRestored(talk, shell)
})

const WORDS = Array.from({ length: 400 }, (_, at) => `word${at} ${at % 25 === 24 ? '\n\n' : ''}`)

function assertOnce(chat: Session): void {
  const lines = chat.screen
    .text()
    .join('\n')
    .match(/\bword\d+\b/g)
  assert.deepEqual(
    lines,
    WORDS.map((word) => word.trim()),
  )
  assert.equal(promptsOf(chat), 1)
  assert.doesNotMatch(chat.bytes(), CLEARS)
}

function promptsOf(chat: Session): number {
  return chat.screen.lines().filter((line) => line.startsWith('> ')).length
}

const CLEARS = new RegExp(`${ESC}(?:\\[[23]J|c|\\[\\d*(?:;\\d*)?[Hfd])`)

async function isIdle(chat: Session, answer = ''): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    return (
      lines.some((line) => line.includes(answer)) && lines.some((line) => line.startsWith('> Ask anything'))
    )
  })
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  assert.deepEqual(await chat.finished, { code: 0, signal: 0 })
}

/** Returns the process id of the chat that a shell runs. */
async function findChatPid(talk: Talk): Promise<number> {
  const pids = await processesLeft(`CRAB_TEST=${talk.env['CRAB_TEST']}`)
  for (const pid of pids) {
    const [, name] = (await readOfProcess(String(pid), 'cmdline')).split('\0')
    if (name === 'chat' || (await readOfProcess(String(pid), 'cmdline')).includes('crabtalk.ts\0chat'))
      return pid
  }
  return assert.fail('no chat runs')
}

async function stty(talk: Talk, name: string): Promise<string> {
  return readFile(`${talk.cwd}/${name}`, 'utf8')
}

async function assertRestored(talk: Talk, shell: Session): Promise<void> {
  assert.equal(await stty(talk, 'after'), await stty(talk, 'before'))
  const end = shell.bytes().slice(-400)
  for (const sequence of UNDONE) assert.ok(end.includes(sequence), `${JSON.stringify(sequence)} is missing`)
  assert.ok(!end.slice(end.lastIndexOf(`${ESC}[?25h`)).includes(`${ESC}[?25l`))
}

/** Creates pseudo-random numbers, the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return state >> 8
  }
}
