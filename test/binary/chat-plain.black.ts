import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { openChat, openShell } from '../support/chat-session.ts'
import { makeTalk, readSessions } from '../support/talk.ts'

const ESC = '\u001b'

for (const [how, line] of [
  ['--plain', 'crabtalk chat --plain'],
  ['TERM=dumb', 'TERM=dumb crabtalk chat'],
] as const) {
  test(`the chat with ${how} prints plain lines and ends with Ctrl-D`, async () => {
    await using talk = await makeTalk([{ parts: ['**Hello** ', `${ESC}[2Jto you.`] }])
    await using chat = openShell(talk, line)
    await chat.shows(/^> ?$/)
    chat.type('hi\r')
    await chat.shows('**Hello** to you.')
    await chat.shows((screen) => screen.lines().filter((line) => /^> ?$/.test(line)).length === 1)
    chat.press('ctrl+d')
    assert.deepEqual(await chat.finished, { code: 0, signal: 0 })
    assert.equal(chat.bytes().includes(ESC), false)
  })
}

test('a plain chat asks before a tool call, reads a line as the answer, and stops on Ctrl-C', async () => {
  const call = { call: 'a', name: 'bash', args: '{"command":"touch made"}' }
  const forever = new Promise<void>(() => {})
  await using talk = await makeTalk([
    { parts: [call] },
    { parts: ['Made it.'] },
    { parts: ['Once upon', forever] },
  ])
  await using chat = openChat(talk, ['chat', '--plain', 'make it'])
  await chat.shows('crab wants to run')
  await chat.shows(/details \n> /)
  chat.type('1\r')
  await chat.shows('Made it.')
  assert.deepEqual(await readdir(talk.cwd), ['made'])
  chat.type('tell me\r')
  await chat.shows('Once upon')
  chat.press('ctrl+c')
  await chat.shows('Interrupted')
  chat.press('ctrl+c')
  await chat.shows('Ctrl+C again leaves')
  chat.press('ctrl+c')
  assert.equal((await chat.finished).signal, 0)
  const [session] = await readSessions(talk.home)
  assert.ok(session?.said.includes('user: tell me'))
})
