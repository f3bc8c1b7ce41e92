import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import { makeTalk, readSessions } from '../support/talk.ts'
import { toSentLines } from '../support/test-node.ts'

const WRITE = { call: 'c1', name: 'write', args: JSON.stringify({ path: 'note.txt', content: 'one\ntwo\n' }) }

test('Esc twice goes back to a message with its file changes, /diff shows them, /fork copies', async () => {
  await using talk = await makeTalk([
    { parts: ['Hello.'] },
    { parts: [WRITE] },
    { parts: ['Written.'] },
    { parts: ['Something else.'] },
  ])
  const path = join(talk.cwd, 'note.txt')
  await using chat = openChat(talk, ['chat', '--yolo'])
  await isIdle(chat)
  await say(chat, 'Say hello', 'Hello.')
  await say(chat, 'Write a note. Two lines.', 'Written.')
  assert.equal(await readFile(path, 'utf8'), 'one\ntwo\n')
  await run(chat, '/diff')
  await chat.shows(/^1 file changed · \+2 −0$/)
  await chat.shows(/created +\+2 −0 +note\.txt/)
  chat.type('q')
  await chat.shows('> Ask anything')
  chat.press('esc')
  await chat.shows('Esc again to go back to an earlier message')
  chat.press('esc')
  await chat.shows(/^› Write a note\. Two lines\. .*1 file changed since/)
  chat.press('enter')
  await chat.shows(/^› Conversation and files +also restores 1 file/)
  chat.press('enter')
  await chat.shows(/^removed +.*note\.txt$/)
  await chat.shows(/^── went back: 3 messages dropped/)
  await chat.shows('> Write a note. Two lines.')
  await assert.rejects(access(path), { code: 'ENOENT' })
  chat.press('ctrl+u')
  await say(chat, 'Something else?', 'Something else.')
  assert.deepEqual(toSentLines(talk.server.requests.at(-1)), [
    'user: Say hello',
    'assistant: Hello.',
    'user: Something else?',
  ])
  chat.press('ctrl+o')
  await chat.shows(/^── went back: the agent no longer sees what follows/)
  await chat.shows('▌ Write a note. Two lines.')
  chat.type('q')
  await chat.shows('> Ask anything')
  await run(chat, '/fork another way')
  await chat.shows('Forked: this is a copy')
  await leave(chat)
  assert.equal((await readSessions(talk.home)).length, 2)
})

test('a conversation that fills the context is compacted by itself, and /compact undo brings it back', async () => {
  const usage = { input: 900, output: 0 }
  const models = 'models = [{ name = "scripted", context = 1000 }]'
  await using talk = await makeTalk(
    ({ text }: RecordedRequest): Reply =>
      text.includes('You compress the conversation')
        ? { parts: ['They count crabs.'], usage: { input: 10, output: 4 } }
        : { parts: ['Counted.'], usage },
    (url) =>
      `model = "scripted"\n[[providers]]\nname = "p"\nkind = "openai-compatible"\nbase_url = "${url}"\n${models}\n`,
  )
  await using chat = openChat(talk)
  await isIdle(chat)
  await say(chat, 'Count the crabs', 'Counted.')
  await chat.shows(/The context is 90 % full: it is compacted with your next message/)
  await say(chat, 'Count again', /Compacted: 90\d → \d+ tokens/)
  await isIdle(chat)
  const sent = toSentLines(talk.server.requests.at(-1))
  assert.equal(sent.length, 1)
  assert.match(sent[0]!, /They count crabs\.[\s\S]*> Count the crabs[\s\S]*Count again$/)
  await run(chat, '/compact undo')
  await chat.shows('The compaction is undone: the agent sees all messages again')
  await run(chat, '/compact undo')
  await chat.shows('the conversation is not compacted')
  await run(chat, '/context')
  await chat.shows(/^Context of scripted · /)
  await chat.shows(/you · 2 messages/)
  await leave(chat)
})

async function run(chat: Session, command: string): Promise<void> {
  chat.type(command)
  await chat.shows(`> ${command}`)
  chat.press('enter')
}

async function say(chat: Session, text: string, answer: string | RegExp): Promise<void> {
  chat.type(text)
  await chat.shows(`> ${text}`)
  chat.press('enter')
  await chat.shows(answer)
  await isIdle(chat)
}

async function isIdle(chat: Session): Promise<void> {
  await chat.shows('> Ask anything')
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
}
