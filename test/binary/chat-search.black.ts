import assert from 'node:assert/strict'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import { makeTalk, readSessions, type Talk } from '../support/talk.ts'

const ESC = '\u001b'
const YEAR_MS = 365 * 86_400_000
const QUESTION = 'Why does our nightly backup of the warehouse stop at three?'
const ANSWER = 'The rotation of the archive locks the ledger: the kraken job holds it until dawn.'

test('a conversation of a year ago is found by two of its words and continues', async () => {
  await using talk = await makeYearOld()
  await using chat = openChat(talk)
  await isIdle(chat, 'Something newer.')
  chat.press('ctrl+r')
  await chat.shows(/^ {0,2}\[sent\] conversations {2}memory/)
  chat.press('tab')
  chat.type('ledger kraken')
  await chat.shows(/^Conversations: ledger kraken +1$/)
  await chat.shows(/^› Why does our nightly backup of the warehouse stop at .* {2}1y ago/)
  await chat.shows(/crab: .*locks the ledger: the kraken job/)
  for (const word of ['ledger', 'kraken']) assert.ok(isMarked(chat, word), word)
  chat.press('enter')
  await chat.shows(/^dawn\.$/)
  await chat.shows(/continued/)
  await chat.shows(/Ctrl\+O, then \/(ledger|kraken), shows the match/)
  chat.type('and now?')
  chat.press('enter')
  await isIdle(chat, 'Still so.')
  await leave(chat)
  const old = (await readSessions(talk.home)).find(({ said }) => said[0]?.includes('warehouse'))
  assert.deepEqual(old?.said.slice(2), ['user: and now?', 'assistant: Still so.'])
})

test('/search finds content that is in no title, and Esc restores the screen', async () => {
  await using talk = await makeYearOld()
  await using chat = openChat(talk)
  await isIdle(chat, 'Something newer.')
  chat.type('/search archive rotation')
  chat.press('enter')
  await chat.shows(/^Conversations: archive rotation +1$/)
  chat.press('esc')
  await chat.shows('> Ask anything')
  chat.type('/sessions')
  chat.press('enter')
  await chat.shows(/^Conversations of crab: +2$/)
  chat.type('kraken')
  await chat.shows('no match')
  chat.press('tab')
  await chat.shows(/^Conversations: kraken +1$/)
  chat.press('esc')
  await chat.shows('> Ask anything')
  await leave(chat)
})

test('# remembers a note, /memory finds it, and a second key press is needed to forget it', async () => {
  await using talk = await makeTalk([])
  await using chat = openChat(talk)
  await isIdle(chat)
  chat.type('#the prod db is on db3, port 5433')
  await chat.shows(/^# the prod db is on db3, port 5433/)
  await chat.shows('note for the memory')
  chat.press('enter')
  await chat.shows('Remembered: the prod db is on db3, port 5433')
  await chat.shows('> Ask anything')
  chat.type('/memory port')
  chat.press('enter')
  await chat.shows(/^Memory of crab: port +1$/)
  chat.press('enter')
  await chat.shows(/d forget · Esc goes back/)
  chat.type('d')
  await chat.shows('d again to forget it')
  chat.press('down')
  await chat.shows(/d forget · Esc goes back/)
  chat.type('d')
  await chat.shows('d again to forget it')
  chat.type('d')
  await chat.shows('Forgotten: the prod db is on db3')
  await chat.shows('no memory entry contains any of these words')
  chat.press('esc')
  await chat.shows('> Ask anything')
  await leave(chat)
  const { stdout } = await talk.run(['memory', 'list', '--json'])
  assert.deepEqual(JSON.parse(stdout), [])
  assert.equal(talk.server.requests.length, 0)
})

for (const columns of [40, 80, 120, 200]) {
  test(`search results fit a terminal of ${columns} columns, and their control characters have no effect`, async () => {
    const hostile = `${ESC}[2J${ESC}]0;owned\u0007 kraken \u202e${'wide 漢字 '.repeat(40)}${ESC}[31m`
    await using talk = await makeTalk([{ parts: [`The kraken ${hostile} sleeps.`] }])
    await talk.send(['--raw', '-s', 'sh:x', `what of ${hostile}?`])
    await using chat = openChat(talk, ['chat'], { columns, rows: 24 })
    await isIdle(chat)
    chat.press('ctrl+r', 'tab')
    chat.type('kraken')
    await chat.shows(/^Conversations: kraken +1$/)
    await chat.shows(/^ {4}you: what of|^ {4}crab: The kraken/)
    for (const bytes of [`${ESC}[2J`, `${ESC}[3J`, 'owned', '\u202e', `${ESC}[31m`])
      assert.equal(chat.bytes().includes(bytes), false, JSON.stringify(bytes))
    for (const line of chat.screen.lines()) assert.ok(line.length <= columns)
    chat.press('esc')
    await chat.shows('> Ask anything')
    await leave(chat)
  })
}

test('many resizes during a search do not clear the screen, and the query stays', async () => {
  await using talk = await makeYearOld()
  await using chat = openChat(talk)
  await isIdle(chat, 'Something newer.')
  chat.press('ctrl+r', 'tab')
  chat.type('kraken')
  await chat.shows(/^Conversations: kraken +1$/)
  for (const [columns, rows] of [
    [40, 24],
    [200, 8],
    [60, 12],
    [41, 50],
    [100, 30],
  ] as const) {
    await chat.resize(columns, rows)
    await chat.shows(/Conversations: kraken/)
  }
  await chat.shows(/^› Why does our nightly backup/)
  for (const clear of [`${ESC}[2J`, `${ESC}[3J`]) assert.equal(chat.bytes().includes(clear), false)
  chat.press('esc')
  await chat.shows('> Ask anything')
  await leave(chat)
})

/** Makes a talk with one conversation whose file is a year old and one of today. */
async function makeYearOld(): Promise<Talk> {
  const talk = await makeTalk([
    { parts: [ANSWER] },
    { parts: ['Something newer.'] },
    { parts: ['Still so.'] },
  ])
  await talk.send(['-s', 'old', QUESTION])
  const folder = join(talk.home, 'sessions')
  const [name] = await readdir(folder)
  const path = join(folder, name!)
  const then = new Date(Date.now() - YEAR_MS - 86_400_000)
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, JSON.stringify(then.toISOString())))
  await utimes(path, then, then)
  await talk.send(['-s', 'user', 'What is new?'])
  return talk
}

/** Whether a word is on the screen in the style of a match. */
function isMarked({ screen }: Session, word: string): boolean {
  return screen.styled().some((line) => new RegExp(`\\u001b\\[[\\d;]*4[;m][^\\u001b]*${word}`).test(line))
}

async function isIdle(chat: Session, after?: string): Promise<void> {
  if (after !== undefined) await chat.holds(after)
  await chat.shows('> Ask anything')
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  assert.deepEqual(await chat.finished, { code: 0, signal: 0 })
}
