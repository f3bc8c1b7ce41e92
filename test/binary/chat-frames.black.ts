import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import {
  assertPromptTellsTurn,
  assertShownOnce,
  assertWrittenWhenShown,
  isFree,
  isWorking,
} from '../support/frame-checks.ts'
import { replayFrames, type ShownFrame } from '../support/frames.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk } from '../support/talk.ts'

const SIZE = { columns: 80, rows: 30 }

test('every frame shows a message once: sent, steered, queued, and taken up', async () => {
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  await using talk = await makeTalk([
    { parts: ['Counting one', gates[0]!.promise, { call: 'a', name: 'read', args: '{"path":"a.txt"}' }] },
    { parts: ['Counting two', gates[1]!.promise, '.'] },
    { parts: ['Counting three', gates[2]!.promise, '.\n\n```ts\nconst three = 3\n```\n\nThird end'] },
  ])
  await writeFile(join(talk.cwd, 'a.txt'), 'a\n')
  await using chat = openChat(talk, ['chat'], SIZE)
  await chat.shows('Ask anything')
  chat.type('alpha message')
  await chat.shows('> alpha message')
  chat.press('enter')
  await chat.shows('Counting one')
  chat.type('beta message')
  await chat.shows('> beta message')
  chat.press('enter')
  await chat.shows('next: beta message')
  chat.type('gamma message')
  await chat.shows('> gamma message')
  chat.press('tab')
  await chat.shows('then: gamma message')
  gates[0]!.resolve()
  await chat.shows('Counting two')
  gates[1]!.resolve()
  await chat.shows('Counting three')
  gates[2]!.resolve()
  await isIdle(chat, 'Third end')
  const frames = await leave(chat)
  for (const message of ['alpha message', 'beta message', 'gamma message']) assertShownOnce(frames, message)
  for (const answer of ['Counting one', 'Counting two', 'Counting three']) assertShownOnce(frames, answer)
  for (const answer of ['Counting one', 'Counting two', 'Counting three'])
    assertWrittenWhenShown(frames, answer)
  assertPromptTellsTurn(frames, 'Third end')
})

test('no frame offers an idle prompt before the end of an answer whose colors are still loading', async () => {
  const code = '```ts\nconst one = 1\n```\n\nFirst end'
  await using talk = await makeTalk([{ parts: [code] }])
  await using chat = openChat(talk, ['chat', 'alpha message'], SIZE)
  await isIdle(chat, 'First end')
  const frames = await leave(chat)
  assertShownOnce(frames, 'alpha message')
  assertPromptTellsTurn(frames, 'First end')
})

test('no frame offers an idle prompt while a turn runs that changes a file', async () => {
  await using talk = await makeTalk([
    {
      parts: [
        'Let me see.',
        { call: 'a', name: 'write', args: '{"path":"a.ts","content":"const a = 1\\n"}' },
      ],
    },
    { parts: ['Written to the end'] },
  ])
  await using chat = openChat(talk, ['chat', '--allow', 'edit(**)', 'alpha message'], SIZE)
  await isIdle(chat, 'Written to the end')
  const frames = await leave(chat)
  for (const text of ['alpha message', 'Let me see.', 'const a = 1']) assertShownOnce(frames, text)
  assertPromptTellsTurn(frames, 'Written to the end')
})

test('every frame shows a message once when the chat is opened again, and its daemon is restarted', async () => {
  await using talk = await makeTalk(({ text }) => ({ parts: [`Echo ${/(\w+) message/.exec(text)?.[1]}`] }))
  const options = { ...SIZE, env: WITH_DAEMON }
  {
    await using daemon = await startSandboxDaemon(talk)
    await using first = openChat(talk, ['chat'], options)
    await send(first, 'alpha message', 'Echo alpha')
    const frames = await leave(first)
    assertShownOnce(frames, 'alpha message')
    assertPromptTellsTurn(frames, 'Echo alpha')
    void daemon
  }
  const before = await startSandboxDaemon(talk)
  await using chat = openChat(talk, ['chat'], options)
  await chat.shows('Echo alpha')
  await chat.shows('· daemon')
  await before[Symbol.asyncDispose]()
  await chat.shows('no daemon')
  chat.type('beta message')
  await chat.shows('> beta message')
  chat.press('enter')
  await using _after = await startSandboxDaemon(talk)
  await isIdle(chat, 'Echo')
  await isIdle(chat, 'Ask anything')
  const frames = await leave(chat)
  for (const message of ['alpha message', 'beta message']) assertShownOnce(frames, message)
})

async function send(chat: Session, text: string, answer: string): Promise<void> {
  await chat.shows('Ask anything')
  chat.type(text)
  await chat.shows(`> ${text}`)
  chat.press('enter')
  await isIdle(chat, answer)
}

async function isIdle(chat: Session, answer: string): Promise<void> {
  await chat.shows(({ lines }) => {
    const shown = lines()
    return shown.some((line) => line.includes(answer)) && isFree(shown) && !isWorking(shown)
  })
}

async function leave(chat: Session): Promise<readonly ShownFrame[]> {
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
  return await replayFrames(chat.bytes(), SIZE)
}
