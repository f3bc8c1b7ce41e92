import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import { chooseDigit, TAKES_DIGITS } from '../support/choose-digit.ts'
import { assertCardsWhole, assertPromptTellsTurn, assertShownOnce } from '../support/frame-checks.ts'
import { replayFrames, type ShownFrame } from '../support/frames.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk } from '../support/talk.ts'

/** High enough for a card with its choices, so that each frame can show it as a whole. */
const SIZE = { columns: 80, rows: 40 }

const TOUCH = { call: 'a', name: 'bash', args: '{"command":"touch ran"}' }
const EDIT = {
  call: 'b',
  name: 'edit',
  args: '{"path":"a.ts","edits":[{"old":"const a = 1","new":"const a = 2"}]}',
}
const FORM = {
  call: 'c',
  name: 'ask_user',
  args: '{"questions":[{"question":"Which one?","options":[{"label":"left"},{"label":"right"}]}]}',
}

test('every frame shows a card as a whole: answered, refused, covered, scrolled, and followed by the next one', async () => {
  const gate = Promise.withResolvers<void>()
  await using talk = await makeTalk([
    { parts: ['Before the cards.', gate.promise, { call: 'r', name: 'read', args: '{"path":"a.ts"}' }] },
    { parts: [TOUCH, EDIT] },
    { parts: ['A question.', FORM] },
    { parts: ['That is the end.'] },
  ])
  await writeFile(join(talk.cwd, 'a.ts'), 'const a = 1\n')
  await using chat = openChat(talk, ['chat', 'alpha message'], SIZE)
  await chat.shows('Before the cards.')
  chat.type('beta message')
  gate.resolve()
  await chat.shows('❯ 4  No')
  chat.press('enter')
  await chat.shows('next: beta message')
  await chat.shows(TAKES_DIGITS)
  chat.type('?')
  await chat.shows('stops the agent')
  chat.press('esc')
  await chat.shows((screen) => !screen.lines().some((line) => line.includes('stops the agent')))
  chat.type('/tools\r')
  await chat.shows('Esc closes')
  chat.press('esc')
  await chooseDigit(chat, '1')
  await chat.shows('Change a file')
  await chat.shows(TAKES_DIGITS)
  chat.press('page-down')
  await chooseDigit(chat, '4')
  await chat.shows('Which one?')
  await chooseDigit(chat, '2')
  await chat.shows('That is the end.')
  await chat.shows('> Ask anything')
  const frames = await leave(chat)
  assertCardsWhole(frames.filter(({ screen }) => !screen.some((line) => line.includes('Esc closes'))))
  for (const text of ['alpha message', 'beta message', 'Before the cards.', 'A question.'])
    assertShownOnce(frames, text)
  assertPromptTellsTurn(frames, 'That is the end.')
})

test('every frame shows a card as a whole when its conversation is opened again, and another window answers it', async () => {
  await using talk = await makeTalk([{ parts: ['Before the card.', TOUCH] }, { parts: ['That is the end.'] }])
  const options = { ...SIZE, env: WITH_DAEMON }
  await using _daemon = await startSandboxDaemon(talk)
  await using first = openChat(talk, ['chat', '-s', 'ann'], options)
  await first.shows('· daemon')
  first.type('alpha message')
  await first.shows('> alpha message')
  first.press('enter')
  await first.shows('❯ 4  No')
  await using second = openChat(talk, ['chat', '-s', 'ann'], options)
  await chooseDigit(second, '1')
  for (const chat of [first, second]) {
    await chat.shows('That is the end.')
    await chat.shows('> Ask anything')
    const frames = await leave(chat)
    assertCardsWhole(frames)
    assertShownOnce(frames, 'alpha message')
    assertShownOnce(frames, 'Before the card.')
    assertPromptTellsTurn(frames, 'That is the end.')
  }
})

async function leave(chat: Session): Promise<readonly ShownFrame[]> {
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
  return await replayFrames(chat.bytes(), SIZE)
}
