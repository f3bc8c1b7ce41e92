import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openChat, type Session, type SessionOptions } from '../support/chat-session.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'

/** Three models, one of which has levels of effort; `scripted` is the default. */
const MODELS = (url: string) => `effort = "high"

[llm]
model = "scripted"

[[providers]]
name = "home"
kind = "openai-compatible"
base_url = "${url}"
models = ["scripted", "big", "gpt-5.1"]
`

const open = (talk: Talk, args: readonly string[] = [], more: SessionOptions = {}) =>
  openChat(talk, ['chat', ...args], { env: WITH_DAEMON, columns: 120, ...more })

async function isIdle(chat: Session): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    const isBusy = lines.some((line) => line.includes('esc to interrupt'))
    return !isBusy && lines.some((line) => line.includes('> Ask anything'))
  })
}

async function say(chat: Session, words: string): Promise<void> {
  chat.type(`${words}\r`)
  await chat.shows(`Heard ${words}.`)
  await isIdle(chat)
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
}

const makeModelTalk = () =>
  makeTalk(({ json }) => {
    const { messages } = json as { messages: { content: unknown }[] }
    return { parts: [`Heard ${/\w+ \w+/.exec(JSON.stringify(messages.at(-1)?.content))?.[0]}.`] }
  }, MODELS)

function lastModel({ server }: Talk): [unknown, unknown] {
  const { model, reasoning_effort: effort } = server.requests.at(-1)!.json
  return [model, effort]
}

test('a model chosen for a conversation stays with it: in the next window, beside another one, and in the next daemon', async () => {
  await using talk = await makeModelTalk()
  {
    await using _daemon = await startSandboxDaemon(talk)
    await using chat = open(talk)
    await chat.shows('· scripted ·')
    await say(chat, 'first words')
    await using beside = open(talk, ['--new'])
    await beside.shows('· scripted ·')
    chat.type('/model gpt-5.1 low\r')
    await chat.shows('Model: gpt-5.1, effort low')
    await say(beside, 'other words')
    assert.deepEqual(lastModel(talk), ['scripted', undefined])
    beside.type('/resume first\r')
    await beside.shows('Conversations of crab')
    beside.press('enter')
    await beside.shows('· gpt-5.1 low ·')
    chat.type('/effort high\r')
    await beside.shows('· gpt-5.1 high ·')
    await say(beside, 'second words')
    assert.deepEqual(lastModel(talk), ['gpt-5.1', 'high'])
    await leave(beside)
    await leave(chat)
  }
  await using _daemon = await startSandboxDaemon(talk)
  await using again = open(talk)
  await again.shows('continued')
  await again.shows('· gpt-5.1 high ·')
  await say(again, 'third words')
  assert.deepEqual(lastModel(talk), ['gpt-5.1', 'high'])
  again.type('/new\r')
  await again.shows('· scripted ·')
  await leave(again)
})

for (const [how, env] of [
  ['with a daemon', WITH_DAEMON],
  ['in process', {}],
] as const) {
  test(`a model chosen before the first message is stored with it, and the effort is shown from the start, ${how}`, async () => {
    await using talk = await makeModelTalk()
    await using _daemon = how === 'in process' ? undefined : await startSandboxDaemon(talk)
    {
      await using chat = open(talk, [], { env })
      await chat.shows('· scripted ·')
      chat.type('/model gpt-5.1\r')
      await chat.shows('· gpt-5.1 high ·')
      await say(chat, 'first words')
      await leave(chat)
    }
    await using again = open(talk, [], { env })
    await again.shows('· gpt-5.1 high ·')
    await say(again, 'second words')
    assert.deepEqual(lastModel(talk), ['gpt-5.1', 'high'])
    await leave(again)
  })
}
